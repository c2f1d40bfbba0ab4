/** A clock that stands still until a test moves it. */
import type { Clock } from '../../src/index.js';

interface Timer {
  readonly due: number;
  readonly callback: () => void;
}

export class FakeClock implements Clock {
  #now = 1_000;
  readonly #timers = new Set<Timer>();

  now(): number {
    return this.#now;
  }

  after(milliseconds: number, callback: () => void): () => void {
    const timer = { due: this.#now + milliseconds, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  get timers(): number {
    return this.#timers.size;
  }

  /** Moves on, calling what falls due in its order. Waits for what that sets off. */
  async advance(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds;
    for (let next = this.#next(end); next; next = this.#next(end)) {
      this.#timers.delete(next);
      this.#now = next.due;
      next.callback();
      await settle();
    }
    this.#now = end;
    await settle();
  }

  #next(until: number): Timer | undefined {
    return [...this.#timers].filter(({ due }) => due <= until).sort((a, b) => a.due - b.due)[0];
  }
}

/** Lets everything happen that needs no time. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
