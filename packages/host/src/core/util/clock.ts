/** Time comes in from outside, so that tests can hold it still. */

export interface Clock {
  /** Milliseconds since the epoch, for what is stored and shown. May jump. */
  now(): number;
  /** Calls back after a delay, by a clock that never jumps; the returned function cancels. */
  after(milliseconds: number, callback: () => void): () => void;
}

/** Node's timers take no longer delay in one go. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  after(milliseconds, callback) {
    let timer: NodeJS.Timeout;
    const arm = (left: number): void => {
      const step = Math.min(left, LONGEST_TIMER_MS);
      timer = setTimeout(() => (left > step ? arm(left - step) : callback()), step);
      timer.unref();
    };
    arm(milliseconds);
    return () => clearTimeout(timer);
  },
};
