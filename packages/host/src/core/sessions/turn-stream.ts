/** What an agent says in the course of a turn, part by part. */
import { type SessionAction, steeringPart, type UserMessage } from '@atrium/protocol';
import { NOTE_MAX_CHARACTERS } from '../limits.js';
import { TurnWords } from './turn-words.js';

type Kind = 'markdown' | 'reasoning';

export class TurnStream {
  readonly #turnId: string;
  readonly #write: (action: SessionAction) => void;
  readonly #words = new TurnWords();
  /** The part that text goes on in, as long as nothing else came in between. */
  #open: { readonly kind: Kind; readonly id: string } | undefined;
  #parts = 0;

  constructor(turnId: string, write: (action: SessionAction) => void) {
    this.#turnId = turnId;
    this.#write = write;
  }

  /** A part is created empty and then grows: clients learn of it before its text. */
  say(kind: Kind, content: string): void {
    const { id } = this.#open?.kind === kind ? this.#open : this.#begin(kind);
    const type = kind === 'markdown' ? 'session/delta' : 'session/reasoning';
    const shown = this.#words.take(content);
    if (shown !== '') this.#write({ type, turnId: this.#turnId, partId: id, content: shown });
    else this.#endWithExcess();
  }

  note(content: string): void {
    this.interrupt();
    const shown = content.length <= NOTE_MAX_CHARACTERS ? content : `${content.slice(0, NOTE_MAX_CHARACTERS)}…`;
    const part = { kind: 'systemNotification' as const, content: shown };
    this.#write({ type: 'session/responsePart', turnId: this.#turnId, part });
  }

  /** What a person said meanwhile stands where it reached the agent, whole. */
  steered(message: UserMessage): void {
    this.interrupt();
    this.#write({ type: 'session/responsePart', turnId: this.#turnId, part: steeringPart(message) });
  }

  /** Something else comes next: text after it is a part of its own. */
  interrupt(): void {
    this.#open = undefined;
  }

  /** Something was written to the turn: calls and notes are parts as well. */
  wrote({ type }: SessionAction): void {
    this.#words.countAction();
    if (type === 'session/responsePart' || type === 'session/toolCallStart') this.#words.beginPart();
    this.#endWithExcess();
  }

  #begin(kind: Kind): { readonly kind: Kind; readonly id: string } {
    const open = { kind, id: `${this.#turnId}-${++this.#parts}` };
    this.#open = open;
    this.#write({ type: 'session/responsePart', turnId: this.#turnId, part: { ...open, content: '' } });
    return open;
  }

  /** An agent that does not know an end is stopped. */
  #endWithExcess(): void {
    const { excess } = this.#words;
    if (excess === undefined) return;
    const message = `The turn was broken off: it had more than ${excess}. Send a message to let the agent go on.`;
    this.#write({ type: 'session/error', turnId: this.#turnId, error: { errorType: 'too-long', message } });
  }
}
