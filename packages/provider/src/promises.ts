/** Promises that nobody has to wait for, and promises that somebody else keeps. */

/** Keeps a rejection that nobody looks at from ending the process; whoever does look still sees it. */
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
