/** All that lives beside one session, together. */
import type { SessionState } from '@atrium/protocol';
import type { Step } from '../channels/channel.js';
import type { Logger } from '../util/logger.js';
import type { Companion } from './companion.js';

export class Companions {
  constructor(
    private readonly all: readonly Companion[],
    private readonly logger: Logger,
  ) {}

  /** Whether one of them still needs the session. */
  get keepAwake(): boolean {
    return this.all.some(({ keepsAwake }) => keepsAwake);
  }

  /** Makes the folder of the session ready. What comes next may depend on it, so a failure is one of the session. */
  async place(): Promise<void> {
    for (const companion of this.all) await companion.place?.();
  }

  async begin(): Promise<void> {
    await Promise.all(this.all.map((companion) => companion.begin?.()));
  }

  observe(step: Step<SessionState>): void {
    for (const companion of this.all) companion.observe?.(step);
  }

  lost(): void {
    for (const companion of this.all) companion.lost?.();
  }

  rest(): Promise<void> {
    return this.#toAll((companion) => companion.rest?.());
  }

  close(): Promise<void> {
    return this.#toAll((companion) => companion.close());
  }

  async #toAll(end: (companion: Companion) => Promise<void> | undefined): Promise<void> {
    const ended = await Promise.allSettled(this.all.map(async (companion) => end(companion)));
    for (const outcome of ended) {
      if (outcome.status === 'rejected')
        this.logger.log('warn', 'something beside a session could not be closed', { error: String(outcome.reason) });
    }
  }
}
