/** What a session gives up when it is idle: its processes after a while, and its place in memory without subscribers. */
import type { Clock } from '../util/clock.js';
import type { Logger } from '../util/logger.js';
import { IDLE_SESSION_MS } from './limits.js';

export interface IdleProcessesOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** From the end of the last turn; `Infinity` leaves them alive. */
  readonly restAfterMs: number;
  readonly session: string;
  /** Whether a turn runs, or a question is open. */
  isBusy(): boolean;
  /** Ends all of them. */
  end(): Promise<void>;
}

/**
 * Ends the processes of a session that rests: those of its agent, its MCP servers and the providers of its project. They
 * are started again before the next turn runs. Subscribers that only watch the session do not keep them alive.
 */
export class IdleProcesses {
  readonly #options: IdleProcessesOptions;
  #disarm: (() => void) | undefined;
  /** Set while they are ended, or being ended; over when nothing of them is left. */
  #resting: Promise<void> | undefined;
  /** Whether any may have been started since they last ended. */
  #mayRun = false;

  constructor(options: IdleProcessesOptions) {
    this.#options = options;
  }

  get isResting(): boolean {
    return this.#resting !== undefined;
  }

  /** They are about to be started. Those from before have to be gone: two of a kind may get into each other's way. */
  async wake(): Promise<void> {
    const ended = this.#resting;
    this.#resting = undefined;
    this.#mayRun = true;
    this.used();
    await ended;
  }

  /** The session worked until now. */
  used(): void {
    this.#disarm?.();
    const { clock, restAfterMs } = this.#options;
    if (!this.#mayRun || restAfterMs === Number.POSITIVE_INFINITY) return;
    this.#disarm = clock.after(restAfterMs, () => this.rest());
  }

  /** Ends them now, unless the session is at work; then it is tried again later. */
  rest(): void {
    if (!this.#mayRun) return;
    const { session, logger, isBusy, end } = this.#options;
    if (isBusy()) return this.used();
    this.stop();
    this.#mayRun = false;
    logger.log('debug', 'the processes of a resting session end', { session });
    this.#resting = end();
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
