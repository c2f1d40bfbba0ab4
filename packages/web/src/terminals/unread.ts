/**
 * Finds the output of a terminal since the last call. Meanwhile the oldest output may have been dropped, and everything
 * may have
 * been cleared or replaced; then all output counts as new.
 */
import type { TerminalContentPart } from '@atrium/protocol/ahp-1';

/** How much of the earlier output is compared, to notice that it was replaced. */
const TAIL_CHARACTERS = 64;
/** Of more output at once only the end counts: the rest would scroll out of sight anyway. */
export const UNREAD_MAX_CHARACTERS = 2 ** 20;

interface ReadPosition {
  readonly part: number;
  /** The command that the part belongs to, if any. */
  readonly command: string | undefined;
  readonly characters: number;
  /** The text before it. */
  readonly tail: string;
}

const BEGINNING: ReadPosition = { part: 0, command: undefined, characters: 0, tail: '' };

interface Unread {
  readonly text: string;
  /** The terminal has to be cleared first. */
  readonly isFresh: boolean;
}

export class UnreadOutput {
  #position: ReadPosition = BEGINNING;

  /** Makes all output unread again. */
  restart(): void {
    this.#position = BEGINNING;
  }

  take(content: readonly TerminalContentPart[]): Unread {
    const isKnown = this.#isAt(content);
    const wasAtBeginning = this.#position === BEGINNING;
    if (!isKnown) this.restart();
    const all = this.#rest(content);
    this.#position = endOf(content);
    const isTooMuch = all.length > UNREAD_MAX_CHARACTERS;
    return {
      text: isTooMuch ? fromLine(all.slice(-UNREAD_MAX_CHARACTERS / 4)) : all,
      isFresh: !isKnown || wasAtBeginning || isTooMuch,
    };
  }

  #isAt(content: readonly TerminalContentPart[]): boolean {
    if (this.#position === BEGINNING) return true;
    const { command, characters, tail } = this.#position;
    const part = content[this.#position.part];
    if (!part || commandOf(part) !== command) return false;
    const text = textOf(part);
    return text.length >= characters && text.slice(characters - tail.length, characters) === tail;
  }

  #rest(content: readonly TerminalContentPart[]): string {
    const { part, characters } = this.#position;
    const [first, ...others] = content.slice(part).map(textOf);
    return [(first ?? '').slice(characters), ...others].join('');
  }
}

function endOf(content: readonly TerminalContentPart[]): ReadPosition {
  const last = content.at(-1);
  if (!last) return BEGINNING;
  const text = textOf(last);
  const part = content.length - 1;
  return { part, command: commandOf(last), characters: text.length, tail: text.slice(-TAIL_CHARACTERS) };
}

function commandOf(part: TerminalContentPart): string | undefined {
  return part.type === 'command' ? part.commandId : undefined;
}

function textOf(part: TerminalContentPart | undefined): string {
  if (part?.type === 'unclassified') return part.value;
  return part?.type === 'command' ? part.output : '';
}

function fromLine(text: string): string {
  return text.slice(text.indexOf('\n') + 1);
}
