/**
 * What waits to be sent to one client. While the client keeps up, messages go straight out, all of a tick in one write.
 * When it does not, text deltas that wait are merged, and past a limit the connection is given up: the client comes back
 * and resumes. A slow client never costs a fast one anything.
 */
import { OUTBOX_MAX_BYTES, OUTBOX_MAX_MESSAGES, OUTBOX_MERGE_BYTES } from '../limits.js';
import { merged, type Outgoing } from './outgoing.js';
import type { Transport } from './transport.js';

export interface OutboxOptions {
  readonly transport: Transport;
  /** Called once, when the client is too slow. */
  readonly onTooSlow: () => void;
  readonly limits?: { readonly messages: number; readonly bytes: number; readonly mergeBytes: number };
}

const DEFAULTS = { messages: OUTBOX_MAX_MESSAGES, bytes: OUTBOX_MAX_BYTES, mergeBytes: OUTBOX_MERGE_BYTES };

export class Outbox {
  readonly #transport: Transport;
  readonly #limits: typeof DEFAULTS;
  readonly #onTooSlow: () => void;
  #waiting: Outgoing[] = [];
  #waitingBytes = 0;
  #flushing = false;
  #given = false;

  constructor({ transport, onTooSlow, limits = DEFAULTS }: OutboxOptions) {
    this.#transport = transport;
    this.#onTooSlow = onTooSlow;
    this.#limits = limits;
  }

  /** Queues a message; everything queued in one turn of the event loop leaves in one write. */
  push(message: Outgoing): void {
    if (this.#given) return;
    this.#add(message);
    if (this.#isOverLimit()) return this.#giveUp();
    if (this.#flushing) return;
    this.#flushing = true;
    queueMicrotask(() => {
      this.#flushing = false;
      this.flush();
    });
  }

  /** Sends what waits, if there is room. */
  flush(): void {
    if (this.#given || this.#waiting.length === 0 || this.#isCongested()) return;
    const frames = this.#waiting.map((message) => message.frame);
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#transport.send(frames);
  }

  #add(message: Outgoing): void {
    const last = this.#waiting.at(-1);
    const joined = last && this.#isCongested() ? merged(last, message) : undefined;
    if (joined && last) {
      this.#waiting[this.#waiting.length - 1] = joined;
      this.#waitingBytes += joined.bytes - last.bytes;
      return;
    }
    this.#waiting.push(message);
    this.#waitingBytes += message.bytes;
  }

  #isCongested(): boolean {
    return this.#transport.bufferedBytes > this.#limits.mergeBytes;
  }

  #isOverLimit(): boolean {
    return this.#waiting.length > this.#limits.messages || this.#waitingBytes > this.#limits.bytes;
  }

  #giveUp(): void {
    this.#given = true;
    this.#waiting = [];
    this.#onTooSlow();
  }
}
