/** Lets something happen at once, and then at most once per interval, never losing the last request. */
import type { Clock } from './clock.js';

export interface Throttle {
  request(): void;
  /** Forgets what is still to come. */
  stop(): void;
}

export function throttle(clock: Clock, intervalMs: number, act: () => void): Throttle {
  let resting: (() => void) | undefined;
  let again = false;
  const perform = (): void => {
    again = false;
    resting = clock.after(intervalMs, () => {
      resting = undefined;
      if (again) perform();
    });
    act();
  };
  return {
    request() {
      if (resting) again = true;
      else perform();
    },
    stop() {
      resting?.();
      again = false;
    },
  };
}
