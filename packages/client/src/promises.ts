/** Promises that nobody has to wait for. */

/** Keeps a rejection that nobody looks at from ending the process; whoever does look still sees it. */
export function optional<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
