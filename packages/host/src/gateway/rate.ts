/** How often something happened in the last while. */
import type { Clock } from '../clock.js';

/** Counts within a sliding window, by a clock that never jumps. Memory is bounded by the limit. */
export class Rate {
  #recent = 0;

  constructor(
    private readonly clock: Clock,
    private readonly limit: number,
    private readonly windowMs: number,
  ) {}

  /** Counts one more, if there is room for it. */
  take(): boolean {
    if (this.#recent >= this.limit) return false;
    this.#recent += 1;
    this.clock.after(this.windowMs, () => {
      this.#recent -= 1;
    });
    return true;
  }
}
