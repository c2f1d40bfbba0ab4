/** Unloads sessions that have had no subscriber and no work for a while. */
import { IDLE_SESSION_MS } from '../limits.js';
import type { Clock } from '../util/clock.js';
import type { Logger } from '../util/logger.js';

interface IdleUnloaderOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  isInMemory(uri: string): boolean;
  isWatched(uri: string): boolean;
  /** Takes a session out of memory, if it is idle. */
  unload(uri: string): Promise<void>;
}

export class IdleUnloader {
  readonly #options: IdleUnloaderOptions;
  readonly #timers = new Map<string, () => void>();

  constructor(options: IdleUnloaderOptions) {
    this.#options = options;
  }

  /** A session was used: its time starts again. No time runs while it has subscribers. */
  used(uri: string): void {
    const { clock, isInMemory, isWatched } = this.#options;
    if (!isInMemory(uri)) return;
    this.#timers.get(uri)?.();
    this.#timers.delete(uri);
    if (isWatched(uri)) return;
    const cancel = clock.after(IDLE_SESSION_MS, () => {
      this.#timers.delete(uri);
      void this.#unload(uri);
    });
    this.#timers.set(uri, cancel);
  }

  async #unload(uri: string): Promise<void> {
    const { isWatched, unload, logger } = this.#options;
    if (isWatched(uri)) return;
    try {
      await unload(uri);
    } catch (error) {
      logger.log('warn', 'could not unload an idle session; trying again later', {
        session: uri,
        error: String(error),
      });
      this.used(uri);
    }
  }

  stop(): void {
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }
}
