/** Notices a peer that is gone without a word: asks at a steady pace and gives up after two questions unanswered. */
import type { Clock } from '../core/util/clock.js';

/** Questions in a row that a peer may leave unanswered. */
export const HEARTBEAT_MISSES_MAX = 2;

export interface HeartbeatOptions {
  readonly clock: Clock;
  readonly intervalMs: number;
  /** Asks the peer for a sign of life. */
  ask(): void;
  giveUp(): void;
}

export class Heartbeat {
  readonly #options: HeartbeatOptions;
  #unanswered = 0;
  #cancel: () => void;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#cancel = this.#arm();
  }

  /** Whatever comes from the peer shows that it is there. */
  heard(): void {
    this.#unanswered = 0;
  }

  stop(): void {
    this.#cancel();
  }

  #arm(): () => void {
    return this.#options.clock.after(this.#options.intervalMs, () => this.#beat());
  }

  #beat(): void {
    if (this.#unanswered >= HEARTBEAT_MISSES_MAX) return this.#options.giveUp();
    this.#unanswered += 1;
    this.#options.ask();
    this.#cancel = this.#arm();
  }
}
