/**
 * A clock whose long waits stand still until a test moves it, while short ones pass by themselves: the host looks every
 * few milliseconds whether a real process is gone, and real processes do not wait for a test.
 */
import { type Clock, systemClock } from '@atrium/core/util/clock.js';
import { FakeClock } from './fake-clock.js';

const SHORT_MS = 600;

export class McpClock extends FakeClock {
  override after(milliseconds: number, callback: () => void): () => void {
    return milliseconds <= SHORT_MS ? systemClock.after(milliseconds, callback) : super.after(milliseconds, callback);
  }
}

/** A clock that runs ten times as fast, for tests that would only wait. */
export const hurriedClock: Clock = {
  now: () => systemClock.now(),
  after: (milliseconds, callback) => systemClock.after(milliseconds / 10, callback),
};
