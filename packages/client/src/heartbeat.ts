/** Finds out that a connection is dead although nobody closed it. */
import type { Clock } from '@atrium/link';

export const HEARTBEAT_MS = 15_000;

/** Half an interval is the unit: a ping every two, dead after five without a sound. */
const TICKS_PER_PING = 2;
const SILENT_TICKS_MAX = 5;

export interface HeartbeatOptions {
  readonly clock: Clock;
  readonly intervalMs: number;
  ping(): void;
  dead(): void;
}

/** Counts ticks instead of reading a clock: a laptop that slept has not been silent. */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  #ticks = 0;
  #silent = 0;
  #cancel: () => void = () => {};

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#arm();
  }

  /** Anything was received. */
  heard(): void {
    this.#silent = 0;
  }

  stop(): void {
    this.#cancel();
  }

  #arm(): void {
    const { clock, intervalMs } = this.#options;
    this.#cancel = clock.after(intervalMs / TICKS_PER_PING, () => this.#tick());
  }

  #tick(): void {
    this.#ticks += 1;
    this.#silent += 1;
    if (this.#silent >= SILENT_TICKS_MAX) {
      this.#options.dead();
      return;
    }
    if (this.#ticks % TICKS_PER_PING === 0) this.#options.ping();
    this.#arm();
  }
}
