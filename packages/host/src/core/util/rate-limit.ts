/** How often something happened in the last while. */
import type { Clock } from './clock.js';

/** Counts within a sliding window, by a clock that never jumps. Memory is bounded by the limit. */
export class RateLimit {
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

/** The same for many, each with a count of its own. Who has been quiet for a while is not kept. */
export class KeyedRateLimit {
  readonly #recent = new Map<string, number>();

  constructor(
    private readonly clock: Clock,
    private readonly limit: number,
    private readonly windowMs: number,
  ) {}

  /** Those who are being counted, for those who look for leaks. */
  get size(): number {
    return this.#recent.size;
  }

  /** Counts one more for this one, if there is room for it. */
  take(key: string): boolean {
    const recent = this.#recent.get(key) ?? 0;
    if (recent >= this.limit) return false;
    this.#recent.set(key, recent + 1);
    this.clock.after(this.windowMs, () => this.#leave(key));
    return true;
  }

  #leave(key: string): void {
    const recent = (this.#recent.get(key) ?? 0) - 1;
    if (recent > 0) this.#recent.set(key, recent);
    else this.#recent.delete(key);
  }
}
