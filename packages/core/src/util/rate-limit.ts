/** Limits how often something happens within a sliding window. */
import type { Clock } from './clock.js';

/** Counts by key, by a clock that never jumps. Keys without recent events are not kept. */
export class RateLimit {
  readonly #recent = new Map<unknown, number>();

  constructor(
    private readonly clock: Clock,
    private readonly max: number,
    private readonly windowMs: number,
  ) {}

  /** Keys that are being counted, to find leaks. */
  get size(): number {
    return this.#recent.size;
  }

  /** Counts one more event of this key; false when the limit is reached. */
  take(key?: unknown): boolean {
    const recent = this.#recent.get(key) ?? 0;
    if (recent >= this.max) return false;
    this.#recent.set(key, recent + 1);
    this.clock.after(this.windowMs, () => this.#expire(key));
    return true;
  }

  #expire(key: unknown): void {
    const recent = (this.#recent.get(key) ?? 0) - 1;
    if (recent > 0) this.#recent.set(key, recent);
    else this.#recent.delete(key);
  }
}
