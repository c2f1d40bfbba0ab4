/** A clock that stands still until a test moves it. */
import type { Clock } from '@atrium/host';

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

export class FakeClock implements Clock {
  #time = 0;
  readonly #timers = new Set<Timer>();

  now(): number {
    return this.#time;
  }

  after(milliseconds: number, callback: () => void): () => void {
    const timer = { at: this.#time + milliseconds, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Moves on from timer to timer, and lets what each of them starts settle before the next. */
  async advance(milliseconds: number): Promise<void> {
    const until = this.#time + milliseconds;
    for (let next = this.#next(until); next; next = this.#next(until)) {
      this.#timers.delete(next);
      this.#time = next.at;
      next.callback();
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#time = until;
  }

  #next(until: number): Timer | undefined {
    return [...this.#timers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
  }
}
