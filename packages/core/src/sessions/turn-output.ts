/** Writes what an agent says in a turn, part by part, within the limits of a turn. */
import {
  type ActiveTurn,
  type ChatAction,
  type Compaction,
  compactionPart,
  type Message,
  SUMMARY_MAX_CHARACTERS,
  steeringPart,
} from '@atrium/protocol/ahp-1';
import { sizeText } from '../util/text.js';
import {
  NOTE_MAX_CHARACTERS,
  PART_TEXT_MAX_CHARACTERS,
  TURN_ACTIONS_MAX,
  TURN_PARTS_MAX,
  TURN_TEXT_MAX_CHARACTERS,
} from './limits.js';

type Kind = 'markdown' | 'reasoning';

export class TurnStream {
  readonly #turnId: string;
  readonly #write: (action: ChatAction) => void;
  readonly #words = new TurnBudget();
  /** The part that further text extends, until something else is written. */
  #open: { readonly kind: Kind; readonly id: string } | undefined;
  #parts = 0;

  constructor({ id, responseParts }: ActiveTurn, write: (action: ChatAction) => void) {
    this.#turnId = id;
    this.#write = write;
    // A resumed turn already has parts, which count.
    this.#parts = responseParts.length;
    for (const part of responseParts) {
      this.#words.beginPart();
      if ('content' in part && typeof part.content === 'string') this.#words.take(part.content);
    }
  }

  /** Writes text. A part is created empty and then grows: clients learn of it before its text. */
  append(kind: Kind, content: string): void {
    const { id } = this.#open?.kind === kind ? this.#open : this.#begin(kind);
    const type = kind === 'markdown' ? 'chat/delta' : 'chat/reasoning';
    const shown = this.#words.take(content);
    if (shown !== '') this.#write({ type, turnId: this.#turnId, partId: id, content: shown });
    this.#endWithExcess();
  }

  note(content: string): void {
    this.interrupt();
    const shown = content.length <= NOTE_MAX_CHARACTERS ? content : `${content.slice(0, NOTE_MAX_CHARACTERS)}…`;
    const part = { kind: 'systemNotification' as const, content: shown };
    this.#write({ type: 'chat/responsePart', turnId: this.#turnId, part });
  }

  /** Writes a compaction where it was made; later text begins a new part. */
  compacted(compaction: Compaction): void {
    this.interrupt();
    const part = compactionPart({ ...compaction, summary: compaction.summary.slice(0, SUMMARY_MAX_CHARACTERS) });
    this.#write({ type: 'chat/responsePart', turnId: this.#turnId, part });
  }

  /** Writes what a person said meanwhile, whole, where it reached the agent. */
  steered(message: Message): void {
    this.interrupt();
    this.#write({ type: 'chat/responsePart', turnId: this.#turnId, part: steeringPart(message) });
  }

  /** Ends the present part: text after it begins a new one. */
  interrupt(): void {
    this.#open = undefined;
  }

  /** Counts an action written to the turn: calls and notes are parts, too. */
  wrote({ type }: ChatAction): void {
    this.#words.countAction();
    if (type === 'chat/responsePart' || type === 'chat/toolCallStart') this.#words.beginPart();
    this.#endWithExcess();
  }

  #begin(kind: Kind): { readonly kind: Kind; readonly id: string } {
    const open = { kind, id: `${this.#turnId}-${++this.#parts}` };
    this.#open = open;
    this.#write({ type: 'chat/responsePart', turnId: this.#turnId, part: { ...open, content: '' } });
    return open;
  }

  /** Ends the turn when it exceeds its limits. */
  #endWithExcess(): void {
    const { excess } = this.#words;
    if (excess === undefined) return;
    const message = `The turn was broken off: it had more than ${excess}. Send a message to let the agent go on.`;
    const part = { kind: 'error' as const, error: { errorType: 'too-long', message } };
    this.#write({ type: 'chat/error', turnId: this.#turnId, duration: 0, part });
  }
}

const CUT = `\n\n[Cut: one part of an answer may have at most ${sizeText(PART_TEXT_MAX_CHARACTERS)}.]`;

/** How much an agent may say in one turn. The rest is neither stored nor shown, but a mark shows that it was cut. */
export class TurnBudget {
  #turnBudget = TURN_TEXT_MAX_CHARACTERS;
  #partBudget = 0;
  #isCut = false;
  #parts = 0;
  #actions = 0;

  /** What exceeded its limit, in words; the turn must end then. */
  get excess(): string | undefined {
    if (this.#parts > TURN_PARTS_MAX) return `${TURN_PARTS_MAX} parts`;
    if (this.#actions > TURN_ACTIONS_MAX) return `${TURN_ACTIONS_MAX} pieces`;
    return this.#turnBudget < 0 ? `${sizeText(TURN_TEXT_MAX_CHARACTERS)} of text` : undefined;
  }

  countAction(): void {
    this.#actions += 1;
  }

  /** Begins a part: text, thinking, a call, a note. */
  beginPart(): void {
    this.#parts += 1;
    this.#partBudget = PART_TEXT_MAX_CHARACTERS;
    this.#isCut = false;
  }

  /** The portion of further text that is shown; nothing after the part was cut. */
  take(content: string): string {
    const room = this.#partBudget;
    this.#partBudget = Math.max(0, room - content.length);
    // Text that is cut counts, too, so that an endless part ends.
    this.#turnBudget -= content.length;
    if (content.length <= room) return content;
    const mark = this.#isCut ? '' : CUT;
    this.#isCut = true;
    return content.slice(0, room) + mark;
  }
}
