/** What a returning client missed, in its dialect. */
import type { ActionEnvelope } from '@atrium/protocol/ahp-1';
import { REPLAY_MAX_BYTES, REPLAY_MAX_ENVELOPES } from '../log/limits.js';
import type { LogEntry } from '../log/log.js';
import { type Encoded, envelopeText, type NumberedMessage } from './encoding.js';

/** An action that a client missed, also as the text that is sent. */
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
  /** The messages after this number are complete. */
  from: number;
  messages: NumberedMessage[];
  bytes: number;
  /** The last number while a client of this wire was subscribed; undefined while one is. */
  leftAt: number | undefined;
}

interface Tick {
  /** Numbers of the first and the last action. */
  readonly first: number;
  readonly upTo: number;
  /** True while a client of this wire is subscribed. */
  readonly isWatched: boolean;
}

/**
 * What a returning client of an older wire missed. Its dialect translates an action only with the states around it, and
 * those are gone by then. So the host keeps the newest messages of a channel as they were translated, from the moment
 * that a client of that wire first watches it. Whether anything was missed, the log says.
 */
export class TranslatedReplay {
  readonly #tails = new Map<string, Tail>();

  constructor(readonly limits = { messages: REPLAY_MAX_ENVELOPES, bytes: REPLAY_MAX_BYTES }) {}

  /** Starts to keep messages of a channel: a client of this wire has its state as of this number. */
  follow(uri: string, seq: number): void {
    if (!this.#tails.has(uri)) this.#tails.set(uri, { from: seq, messages: [], bytes: 0, leftAt: undefined });
  }

  isFollowed(uri: string): boolean {
    return this.#tails.has(uri);
  }

  forget(uri: string): void {
    this.#tails.delete(uri);
  }

  /** Adds the messages of one tick. */
  add(uri: string, { numbered, close }: Encoded, { first, upTo, isWatched }: Tick): void {
    const tail = this.#tails.get(uri);
    if (!tail) return;
    tail.leftAt = isWatched ? undefined : (tail.leftAt ?? first - 1);
    if (close !== undefined) Object.assign(tail, { from: upTo, messages: [], bytes: 0 });
    else tail.messages.push(...numbered);
    tail.bytes += close === undefined ? numbered.reduce((sum, { message }) => sum + message.size, 0) : 0;
    this.#trim(tail);
    // Every client that left needs a snapshot now, so nothing more has to be translated for them.
    if (tail.leftAt !== undefined && tail.from > tail.leftAt) this.#tails.delete(uri);
  }

  /** The messages of a channel after a number; undefined when some are missing. */
  after(uri: string, seq: number): readonly NumberedMessage[] | undefined {
    const tail = this.#tails.get(uri);
    if (!tail || seq < tail.from) return undefined;
    // One action can become several messages with the same number, and the client cannot say whether it got all of
    // them.
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
