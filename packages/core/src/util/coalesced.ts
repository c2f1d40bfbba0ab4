/** Runs a job again whenever it is asked for, one run after the other. Requests before a run begins share that run. */

/** The returned function resolves after a run that began when it was called, or later. */
export function coalesced(run: () => Promise<void>): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  /** The run that has yet to begin: it sees everything that changes until then. */
  let next: Promise<void> | undefined;
  return () => {
    if (next) return next;
    next = last.then(() => {
      next = undefined;
      return run();
    });
    last = next.catch(() => {});
    return next;
  };
}
