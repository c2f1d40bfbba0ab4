/** Removes what need not be kept any longer: once at the start, and then every few hours. */

import { HOUSEKEEPING_EVERY_MS } from '@atrium/core/sessions/limits.js';
import type { Clock } from '@atrium/core/util/clock.js';
import type { Logger } from '@atrium/core/util/logger.js';

export interface HousekeepingOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** The work to do, one after another. */
  readonly tasks: readonly (() => Promise<void>)[];
}

export class Housekeeping {
  readonly #options: HousekeepingOptions;
  #cancel = () => {};
  #round: Promise<void> = Promise.resolve();

  constructor(options: HousekeepingOptions) {
    this.#options = options;
  }

  /** The first round. If it fails, so does the start of the host. */
  async start(): Promise<void> {
    await this.#run();
    this.#schedule();
  }

  #schedule(): void {
    this.#cancel = this.#options.clock.after(HOUSEKEEPING_EVERY_MS, () => {
      this.#round = this.#run().catch((error) => {
        this.#options.logger.log('warn', 'could not remove old data; tried again later', {
          error: String(error),
        });
      });
      this.#schedule();
    });
  }

  async #run(): Promise<void> {
    for (const chore of this.#options.tasks) await chore();
  }

  /** The log closes next. */
  async stop(): Promise<void> {
    this.#cancel();
    await this.#round;
  }
}
