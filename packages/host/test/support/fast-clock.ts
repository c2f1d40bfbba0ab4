/** A clock whose hours pass in seconds, and that goes on where it was when its process has been killed. */
import type { Clock } from '@atrium/core/util/clock.js';

/** How many of its seconds pass in one. */
export const FAST = 600;

export class FastClock implements Clock {
  /** `begin` on this clock is `realBegin` on that of the machine, both in milliseconds since the epoch. */
  constructor(
    private readonly begin: number,
    private readonly realBegin: number,
  ) {}

  now(): number {
    return this.begin + (Date.now() - this.realBegin) * FAST;
  }

  after(milliseconds: number, callback: () => void): () => void {
    const timer = setTimeout(callback, milliseconds / FAST);
    return () => clearTimeout(timer);
  }
}
