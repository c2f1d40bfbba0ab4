/** Waiting for things that may never come. */
import { systemClock } from '../../clock.js';

/** Whether the work succeeds in time. It goes on if it does not. */
export function succeedsWithin(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const disarm = systemClock.after(milliseconds, () => resolve(false));
    const settle = (isDone: boolean) => {
      disarm();
      resolve(isDone);
    };
    work.then(
      () => settle(true),
      () => settle(false),
    );
  });
}

/** A promise and what settles it. */
export class Settled {
  readonly promise: Promise<void>;
  resolve: () => void = () => {};
  reject: (error: unknown) => void = () => {};

  constructor() {
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    // Whoever waits for it hears of a failure; when nobody does, it is no failure of the process.
    this.promise.catch(() => {});
  }
}
