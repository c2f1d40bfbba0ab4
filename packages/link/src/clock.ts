/** Time comes in as an argument, so that tests can hold it still. */

export interface Clock {
  /** Milliseconds since the epoch, or since some other moment for a steady clock. */
  now(): number;
  /** Calls back after a delay, by a clock that never jumps; the returned function cancels. */
  after(milliseconds: number, callback: () => void): () => void;
}

/** Timers take no longer delay in one go. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

interface Timer {
  unref?(): void;
}

function timers(unref: boolean): Clock['after'] {
  return (milliseconds, callback) => {
    let timer: ReturnType<typeof setTimeout>;
    const arm = (left: number): void => {
      const step = Math.min(left, LONGEST_TIMER_MS);
      timer = setTimeout(() => (left > step ? arm(left - step) : callback()), step);
      if (unref) (timer as Timer).unref?.();
    };
    arm(milliseconds);
    return () => clearTimeout(timer);
  };
}

/** The wall clock, which may jump. A waiting timer keeps the process alive. */
export const wallClock: Clock = { now: () => Date.now(), after: timers(false) };

/** The wall clock for a server: waiting timers do not keep the process alive. */
export const systemClock: Clock = { now: () => Date.now(), after: timers(true) };

/** For measuring durations: never jumps, and starts anywhere. */
export const steadyClock: Clock = { now: () => performance.now(), after: timers(false) };
