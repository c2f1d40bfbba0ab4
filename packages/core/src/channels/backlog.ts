/**
 * Tracks what waits to be stored: how much, and for how long. When the log is slow, commits grow, and without a bound
 * they would fill the memory. So while too much is waiting, clients on their sockets and agents that stream output have
 * to wait, too.
 */
import type { Clock } from '../util/clock.js';
import type { Logger } from '../util/logger.js';
import { BEHIND_WARNED_EVERY_MS, UNSTORED_MAX_BYTES, UNSTORED_MAX_MS } from './limits.js';

export interface BacklogOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /**
   * Called when storing falls behind, and again when it has caught up, then with how long that took in milliseconds.
   */
  readonly changed?: (behind: { readonly isBehind: boolean; readonly milliseconds: number }) => void;
}

export class Backlog {
  readonly #options: BacklogOptions;
  #bytes = 0;
  /** True while the commit under way takes longer than `UNSTORED_MAX_MS`. */
  #isLate = false;
  #cancelLate: () => void = () => {};
  /** When storing fell behind, by `performance.now()`; undefined while it keeps up. */
  #behindSince: number | undefined;
  #warnedAt = Number.NEGATIVE_INFINITY;
  #waiting: (() => void)[] = [];

  constructor(options: BacklogOptions) {
    this.#options = options;
  }

  get isBehind(): boolean {
    return this.#behindSince !== undefined;
  }

  /** Resolves when storing has caught up; undefined while it keeps up. */
  caughtUp(): Promise<void> | undefined {
    if (!this.isBehind) return undefined;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Counts bytes that are now waiting to be stored. */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes >= UNSTORED_MAX_BYTES) this.#fallBehind();
  }

  /** Starts the clock for a commit that is on its way to the log. */
  begin(): void {
    this.#cancelLate = this.#options.clock.after(UNSTORED_MAX_MS, () => {
      this.#isLate = true;
      this.#fallBehind();
    });
  }

  /** Ends the commit: these bytes are stored, or given up. */
  end(bytes: number): void {
    this.#cancelLate();
    this.#isLate = false;
    this.remove(bytes);
  }

  /** Takes off bytes that no longer need to be stored. */
  remove(bytes: number): void {
    this.#bytes -= bytes;
    // Catch up only at half the limit: at the limit itself, everyone would stop and go on with each commit.
    const since = this.#behindSince;
    if (since !== undefined && !this.#isLate && this.#bytes <= UNSTORED_MAX_BYTES / 2) this.#catchUp(since);
  }

  #fallBehind(): void {
    if (this.#behindSince !== undefined) return;
    const now = performance.now();
    this.#behindSince = now;
    this.#options.changed?.({ isBehind: true, milliseconds: 0 });
    if (now - this.#warnedAt < BEHIND_WARNED_EVERY_MS) return;
    this.#warnedAt = now;
    this.#options.logger.log('warn', 'storing is slow: clients and agents wait until it has caught up', {
      bytes: this.#bytes,
    });
  }

  #catchUp(since: number): void {
    const milliseconds = performance.now() - since;
    this.#behindSince = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resume of waiting) resume();
    this.#options.changed?.({ isBehind: false, milliseconds });
  }
}
