/** Lets sessions leave memory when nobody has watched or used them for a while. */

import { IDLE_SESSION_MS } from '../limits.js';
import type { Clock } from '../util/clock.js';
import type { Logger } from '../util/logger.js';

interface RestingOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly isWatched: (uri: string) => boolean;
  /** Takes a session out of memory, if nothing speaks against it. */
  readonly putAway: (uri: string) => Promise<void>;
}

export class Resting {
  readonly #options: RestingOptions;
  readonly #timers = new Map<string, () => void>();

  constructor(options: RestingOptions) {
    this.#options = options;
  }

  /** A session was used: its time begins anew. While somebody watches, no time runs. */
  used(uri: string): void {
    this.#timers.get(uri)?.();
    this.#timers.delete(uri);
    if (this.#options.isWatched(uri)) return;
    const cancel = this.#options.clock.after(IDLE_SESSION_MS, () => {
      this.#timers.delete(uri);
      void this.#rest(uri);
    });
    this.#timers.set(uri, cancel);
  }

  async #rest(uri: string): Promise<void> {
    const { isWatched, putAway, logger } = this.#options;
    if (isWatched(uri)) return;
    try {
      await putAway(uri);
    } catch (error) {
      logger.log('warn', 'a session stays in memory', { session: uri, error: String(error) });
      this.used(uri);
    }
  }

  stop(): void {
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }
}
