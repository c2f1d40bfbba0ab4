/**
 * What waits to be stored: how much, and since when. A log that is slow makes commits larger, and without a bound they would
 * fill the memory. So whoever brings more, clients on their sockets and agents with what they stream, waits while there is
 * too much.
 */
import type { Clock } from '../util/clock.js';
import type { Logger } from '../util/logger.js';
import { BEHIND_WARNED_EVERY_MS, UNSTORED_MAX_BYTES, UNSTORED_MAX_MS } from './limits.js';

export interface BacklogOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called when too much waits, and when that is over: then with the time that it took, in milliseconds. */
  readonly changed?: (behind: { readonly isBehind: boolean; readonly milliseconds: number }) => void;
}

export class Backlog {
  readonly #options: BacklogOptions;
  #bytes = 0;
  /** The commit under way takes too long. */
  #isLate = false;
  #cancelLate: () => void = () => {};
  /** By `performance.now()`; undefined while storing keeps up. */
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

  /** So many bytes more are to be stored. */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes >= UNSTORED_MAX_BYTES) this.#fallBehind();
  }

  /** A commit is on its way to the log. */
  begin(): void {
    this.#cancelLate = this.#options.clock.after(UNSTORED_MAX_MS, () => {
      this.#isLate = true;
      this.#fallBehind();
    });
  }

  /** The commit has ended; so many bytes are stored, or given up. */
  end(bytes: number): void {
    this.#cancelLate();
    this.#isLate = false;
    this.remove(bytes);
  }

  /** So many bytes need not be stored any more. */
  remove(bytes: number): void {
    this.#bytes -= bytes;
    // Not at the same limit: otherwise all would wait and go on with each commit.
    if (this.#behindSince !== undefined && !this.#isLate && this.#bytes <= UNSTORED_MAX_BYTES / 2) this.#catchUp();
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

  #catchUp(): void {
    const milliseconds = performance.now() - (this.#behindSince ?? 0);
    this.#behindSince = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const goOn of waiting) goOn();
    this.#options.changed?.({ isBehind: false, milliseconds });
  }
}
