/** Logs who was not let in. A program that tries again and again must not fill the disk: past a few lines it is counted. */
import type { LogFields, Logger } from '../../core/util/logger.js';

const WINDOW_MS = 60_000;
/** Lines in one window; what is beyond is only counted. */
export const REFUSALS_LOGGED_MAX = 20;

export class RefusalLog {
  readonly #logger: Logger;
  readonly #now: () => number;
  #windowSince = Number.NEGATIVE_INFINITY;
  #count = 0;

  constructor(logger: Logger, now: () => number = () => performance.now()) {
    this.#logger = logger;
    this.#now = now;
  }

  refused(fields: LogFields): void {
    const now = this.#now();
    if (now - this.#windowSince >= WINDOW_MS) this.#begin(now);
    this.#count += 1;
    if (this.#count <= REFUSALS_LOGGED_MAX) this.#logger.log('warn', 'connection refused', fields);
    if (this.#count === REFUSALS_LOGGED_MAX)
      this.#logger.log('warn', 'further refused connections of this minute are only counted');
  }

  #begin(now: number): void {
    const unlisted = this.#count - REFUSALS_LOGGED_MAX;
    if (unlisted > 0) this.#logger.log('warn', 'more connections were refused than are listed', { unlisted });
    this.#windowSince = now;
    this.#count = 0;
  }
}
