/** Promises that may stay without a listener, and promises that are settled from outside. */

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
