/** A clock that stands still until a test moves it. */
import type { Clock } from '@atrium/core/util/clock.js';

export class ManualClock implements Clock {
  private time = 0;
  private readonly waiting = new Set<{ readonly at: number; readonly callback: () => void }>();

  /** Timers that are set. */
  get pending(): number {
    return this.waiting.size;
  }

  now(): number {
    return this.time;
  }

  after(milliseconds: number, callback: () => void): () => void {
    const timer = { at: this.time + milliseconds, callback };
    this.waiting.add(timer);
    return () => this.waiting.delete(timer);
  }

  /** Moves on, and lets what was waiting for it happen. */
  async advance(milliseconds: number): Promise<void> {
    this.time += milliseconds;
    for (const timer of [...this.waiting].filter(({ at }) => at <= this.time).sort((a, b) => a.at - b.at)) {
      this.waiting.delete(timer);
      timer.callback();
    }
    await tick();
  }
}

/** One turn of the event loop. */
export function tick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
