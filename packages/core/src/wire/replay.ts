/** What a returning client missed, in the words of its dialect. */
import type { ActionEnvelope } from '@atrium/protocol/ahp-1';
import { REPLAY_MAX_BYTES, REPLAY_MAX_ENVELOPES } from '../log/limits.js';
import type { LogEntry } from '../log/log.js';
import { type Encoded, envelopeText, type NumberedMessage } from './encoding.js';

/** An action that a client missed, also as the text that goes out. */
export interface MissedAction {
  readonly envelope: ActionEnvelope;
  readonly text: string;
}

export function missedAction({ seq, channel, action, origin }: LogEntry): MissedAction {
  const whose = origin && { clientId: origin.clientId, clientSeq: origin.clientSeq };
  const envelope = { channel, serverSeq: seq, action: JSON.parse(action), ...(whose && { origin: whose }) };
  return { envelope, text: envelopeText(envelope, action) };
}

interface Tail {
  /** Everything behind this number is here. */
  from: number;
  messages: NumberedMessage[];
  bytes: number;
  /** No client of this wire is subscribed since this number. */
  leftAt: number | undefined;
}

interface Tick {
  /** The numbers of the first action and of the last. */
  readonly first: number;
  readonly upTo: number;
  /** Whether a client of this wire is subscribed. */
  readonly isWatched: boolean;
}

/**
 * What a returning client of an older wire missed. Its translator needs the states around each action, and those are
 * gone by then; so the newest messages of a channel are kept as they were translated, from the moment that a client of
 * that wire first watches it. The log says what was missed at all.
 */
export class TranslatedReplay {
  readonly #tails = new Map<string, Tail>();

  constructor(readonly limits = { messages: REPLAY_MAX_ENVELOPES, bytes: REPLAY_MAX_BYTES }) {}

  /** A client of this wire watches a channel, and has its state as of this number. */
  follow(uri: string, seq: number): void {
    if (!this.#tails.has(uri)) this.#tails.set(uri, { from: seq, messages: [], bytes: 0, leftAt: undefined });
  }

  isFollowed(uri: string): boolean {
    return this.#tails.has(uri);
  }

  forget(uri: string): void {
    this.#tails.delete(uri);
  }

  /** Takes what a channel did in one tick. */
  add(uri: string, { numbered, close }: Encoded, { first, upTo, isWatched }: Tick): void {
    const tail = this.#tails.get(uri);
    if (!tail) return;
    tail.leftAt = isWatched ? undefined : (tail.leftAt ?? first - 1);
    if (close !== undefined) Object.assign(tail, { from: upTo, messages: [], bytes: 0 });
    else tail.messages.push(...numbered);
    tail.bytes += close === undefined ? numbered.reduce((sum, { message }) => sum + message.size, 0) : 0;
    this.#trim(tail);
    // All who left have to take a snapshot: nothing needs to be translated for them any more.
    if (tail.leftAt !== undefined && tail.from > tail.leftAt) this.#tails.delete(uri);
  }

  /** Every message of a channel behind a number; undefined when some of them cannot be told. */
  after(uri: string, seq: number): readonly NumberedMessage[] | undefined {
    const tail = this.#tails.get(uri);
    if (!tail || seq < tail.from) return undefined;
    // One action can be several messages. Whether a client got all of those that have the last number it saw, it
    // cannot say.
    if (tail.messages.filter((message) => message.seq === seq).length > 1) return undefined;
    return tail.messages.filter((message) => message.seq > seq);
  }

  #trim(tail: Tail): void {
    let dropped = 0;
    while (tail.messages.length - dropped > this.limits.messages || tail.bytes > this.limits.bytes) {
      const oldest = tail.messages[dropped++];
      if (!oldest) break;
      tail.bytes -= oldest.message.size;
      tail.from = oldest.seq + 1;
    }
    if (dropped > 0) tail.messages = tail.messages.slice(dropped);
  }
}
