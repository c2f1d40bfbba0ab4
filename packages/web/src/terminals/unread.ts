/** Finds what a terminal has written since it was looked at the last time. */
import type { TerminalContentPart } from '@atrium/protocol';

/** How much of what was read is compared, to notice that it was replaced by something else. */
const TAIL_CHARACTERS = 64;
/** More than this at once is only looked at from the end: the rest would scroll out of sight anyway. */
export const UNREAD_MAX_CHARACTERS = 2 ** 20;

interface Place {
  readonly part: number;
  readonly characters: number;
  /** What stands in front of it. */
  readonly tail: string;
}

const BEGINNING: Place = { part: 0, characters: 0, tail: '' };

export interface Unread {
  readonly text: string;
  /** What was shown so far is to be forgotten first. */
  readonly isFresh: boolean;
}

export class UnreadOutput {
  #place: Place = BEGINNING;
  /** Of all that was read since the beginning. */
  total = 0;

  /** Everything from the beginning on is unread again. */
  restart(): void {
    this.#place = BEGINNING;
    this.total = 0;
  }

  take(content: readonly TerminalContentPart[]): Unread {
    const isKnown = this.#isAt(content);
    const wasAtBeginning = this.#place === BEGINNING;
    if (!isKnown) this.restart();
    const all = this.#rest(content);
    this.total += all.length;
    this.#place = endOf(content);
    const isTooMuch = all.length > UNREAD_MAX_CHARACTERS;
    return {
      text: isTooMuch ? fromLine(all.slice(-UNREAD_MAX_CHARACTERS / 4)) : all,
      isFresh: !isKnown || wasAtBeginning || isTooMuch,
    };
  }

  #isAt(content: readonly TerminalContentPart[]): boolean {
    const { part, characters, tail } = this.#place;
    if (this.#place === BEGINNING) return true;
    const text = textOf(content[part]);
    return text.length >= characters && text.slice(characters - tail.length, characters) === tail;
  }

  #rest(content: readonly TerminalContentPart[]): string {
    const { part, characters } = this.#place;
    const [first, ...others] = content.slice(part).map(textOf);
    return [(first ?? '').slice(characters), ...others].join('');
  }
}

function endOf(content: readonly TerminalContentPart[]): Place {
  const text = textOf(content.at(-1));
  if (content.length === 0) return BEGINNING;
  return { part: content.length - 1, characters: text.length, tail: text.slice(-TAIL_CHARACTERS) };
}

function textOf(part: TerminalContentPart | undefined): string {
  if (part?.type === 'unclassified') return part.value;
  return part?.type === 'command' ? part.output : '';
}

function fromLine(text: string): string {
  return text.slice(text.indexOf('\n') + 1);
}
