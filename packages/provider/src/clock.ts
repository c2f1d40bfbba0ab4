/** Time comes in from outside, so that tests can hold it still. */

export interface Clock {
  /** Milliseconds since some moment; never jumps back. */
  now(): number;
  /** Calls back after a delay; the returned function cancels. */
  after(milliseconds: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after(milliseconds, callback) {
    const timer = setTimeout(callback, milliseconds);
    return () => clearTimeout(timer);
  },
};
