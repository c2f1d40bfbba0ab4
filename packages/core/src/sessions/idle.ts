/** What an idle session gives up: its processes after a while, and its place in memory when it has no subscribers. */
import type { Clock } from '../util/clock.js';
import type { Logger } from '../util/logger.js';
import { IDLE_SESSION_MS } from './limits.js';

export interface IdleProcessesOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Time after the end of the last turn; `Infinity` keeps them running. */
  readonly suspendAfterMs: number;
  readonly session: string;
  /** True while a turn runs or a question is open. */
  isBusy(): boolean;
  /** Ends all processes. */
  end(): Promise<void>;
}

/**
 * Ends the processes of a resting session: those of its agent, its MCP servers and the providers of its project. They
 * are started again before the next turn. Subscribers that only watch the session do not keep them running.
 */
export class IdleProcesses {
  readonly #options: IdleProcessesOptions;
  #disarm: (() => void) | undefined;
  /** Set while the session rests; settles when its processes have ended. */
  #suspended: Promise<void> | undefined;
  /** True when a process may have been started since they last ended. */
  #mayHaveProcesses = false;

  constructor(options: IdleProcessesOptions) {
    this.#options = options;
  }

  get isSuspended(): boolean {
    return this.#suspended !== undefined;
  }

  /**
   * Prepares for starting processes. It waits until the old ones have ended: two of a kind may get into each other's
   * way.
   */
  async wake(): Promise<void> {
    const ended = this.#suspended;
    this.#suspended = undefined;
    this.#mayHaveProcesses = true;
    this.used();
    await ended;
  }

  /** Restarts the timer: the session has worked until now. */
  used(): void {
    this.#disarm?.();
    const { clock, suspendAfterMs } = this.#options;
    if (!this.#mayHaveProcesses || suspendAfterMs === Number.POSITIVE_INFINITY) return;
    this.#disarm = clock.after(suspendAfterMs, () => this.suspend());
  }

  /** Ends the processes, unless the session is at work; then it tries again later. */
  suspend(): void {
    if (!this.#mayHaveProcesses) return;
    const { session, logger, isBusy, end } = this.#options;
    if (isBusy()) return this.used();
    this.stop();
    this.#mayHaveProcesses = false;
    logger.log('debug', 'the processes of a resting session end', { session });
    this.#suspended = end();
  }

  stop(): void {
    this.#disarm?.();
    this.#disarm = undefined;
  }
}

interface IdleUnloaderOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  isInMemory(uri: string): boolean;
  isWatched(uri: string): boolean;
  /** Takes a session out of memory, if it is idle. */
  unload(uri: string): Promise<void>;
}

/** Unloads sessions that have had no subscriber and no work for a while. */
export class IdleUnloader {
  readonly #options: IdleUnloaderOptions;
  readonly #timers = new Map<string, () => void>();

  constructor(options: IdleUnloaderOptions) {
    this.#options = options;
  }

  /** Restarts the timer of a session that was used. The timer does not run while the session has subscribers. */
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
