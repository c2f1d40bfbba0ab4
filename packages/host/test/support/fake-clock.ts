/** A clock that stands still until a test moves it. */
import type { Clock } from '@atrium/core/util/clock.js';
import { settle } from './test-host.js';

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

export class FakeClock implements Clock {
  #time: number;
  readonly #timers = new Set<Timer>();

  constructor(start = Date.UTC(2025, 0, 1)) {
    this.#time = start;
  }

  /** Timers that are set. */
  get pending(): number {
    return this.#timers.size;
  }

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
      this.#time = Math.max(this.#time, next.at);
      next.callback();
      await settle();
    }
    this.#time = until;
    await settle();
  }

  #next(until: number): Timer | undefined {
    return [...this.#timers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
  }
}
