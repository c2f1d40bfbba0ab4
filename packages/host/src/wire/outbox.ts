/**
 * What waits to be sent to one client. While the client keeps up, messages go straight out, all of a tick in one write.
 * When it does not, text deltas and output that wait are merged, and past a limit the connection is given up: the client comes back
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
  #waitingSize = 0;
  #given = false;

  constructor({ transport, onTooSlow, limits = DEFAULTS }: OutboxOptions) {
    this.#transport = transport;
    this.#onTooSlow = onTooSlow;
    this.#limits = limits;
  }

  get unsentBytes(): number {
    return this.#waitingSize + this.#transport.bufferedBytes;
  }

  push(message: Outgoing): void {
    this.pushAll([message]);
  }

  /** Sends messages in one write, or lets them wait. The list may be shared between clients: it is not kept. */
  pushAll(messages: readonly Outgoing[]): void {
    if (this.#given) return;
    if (this.#waiting.length === 0 && !this.#isCongested()) return this.#transport.send(messages);
    for (const message of messages) this.#wait(message);
    this.flush();
    if (this.#isOverLimit()) this.#giveUp();
  }

  /** Sends what waits, if there is room. */
  flush(): void {
    if (this.#given || this.#waiting.length === 0 || this.#isCongested()) return;
    const messages = this.#waiting;
    this.#waiting = [];
    this.#waitingSize = 0;
    this.#transport.send(messages);
  }

  #wait(message: Outgoing): void {
    const last = this.#waiting.at(-1);
    const joined = last && merged(last, message);
    if (joined) this.#waitingSize -= this.#waiting.pop()?.size ?? 0;
    this.#waiting.push(joined ?? message);
    this.#waitingSize += (joined ?? message).size;
  }

  #isCongested(): boolean {
    return this.#transport.bufferedBytes > this.#limits.mergeBytes;
  }

  #isOverLimit(): boolean {
    return this.#waiting.length > this.#limits.messages || this.#waitingSize > this.#limits.bytes;
  }

  #giveUp(): void {
    this.#given = true;
    this.#waiting = [];
    this.#onTooSlow();
  }
}
