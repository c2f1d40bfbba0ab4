/** Promises without a listener, promises that are settled from outside, and thrown values that are no errors. */

/** Keeps an unobserved rejection from ending the process; listeners still see it. */
export function optional<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

export interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(error: Error): void;
}

export function deferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise: optional(promise), resolve, reject };
}

/** JavaScript can throw any value; this one is always an error. */
export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
