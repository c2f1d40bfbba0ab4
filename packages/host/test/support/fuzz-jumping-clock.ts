/** A clock whose wall time can be set back and forth, as people and time servers do, while its timers run on. */
import type { Clock } from '@atrium/core/util/clock.js';
import { FakeClock } from './fake-clock.js';

export class JumpingClock implements Clock {
  readonly #steady = new FakeClock();
  #offset = 0;

  get pending(): number {
    return this.#steady.pending;
  }

  now(): number {
    return this.#steady.now() + this.#offset;
  }

  after(milliseconds: number, callback: () => void): () => void {
    return this.#steady.after(milliseconds, callback);
  }

  /** Sets the wall clock; no timer notices. */
  jump(milliseconds: number): void {
    this.#offset += milliseconds;
  }

  advance(milliseconds: number): Promise<void> {
    return this.#steady.advance(milliseconds);
  }
}
