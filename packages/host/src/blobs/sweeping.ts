/** Sweeps kept contents once, in the background, when the host has started. Nobody waits for it. */
import type { HostCore } from '../core/contracts/host-core.js';
import type { Service } from '../core/contracts/service.js';
import type { Log } from '../core/log/log.js';
import type { KeptContents } from './kept-contents.js';
import { sweep } from './sweep.js';

export interface SweepingParts {
  readonly core: Pick<HostCore, 'clock' | 'logger' | 'sessions'>;
  readonly log: Log;
  readonly contents: KeptContents;
}

export class Sweeping implements Service {
  readonly #parts: SweepingParts;
  readonly #abort = new AbortController();
  #done: Promise<void> = Promise.resolve();

  constructor(parts: SweepingParts) {
    this.#parts = parts;
  }

  async start(): Promise<void> {
    this.#done = this.#sweep();
  }

  async #sweep(): Promise<void> {
    const { core, log, contents } = this.#parts;
    const { clock, logger } = core;
    const { signal } = this.#abort;
    try {
      const removed = await sweep({ clock, log, contents, sessions: core.sessions.stored(), signal });
      if (removed > 0) logger.log('info', 'removed contents that no session names', { removed });
    } catch (error) {
      if (!signal.aborted) logger.log('warn', 'could not look for unused contents', { error: String(error) });
    }
  }

  /** The log closes next. */
  close(): Promise<void> {
    this.#abort.abort();
    return this.#done;
  }
}
