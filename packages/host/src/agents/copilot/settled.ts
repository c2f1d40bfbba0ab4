/** A promise that somebody else settles. */

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
