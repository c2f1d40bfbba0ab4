/** Work of the host that takes a while: a person sees how far it is, and can stop it. */

export interface WorkStep {
  /** Never decreases; at most `total`. */
  readonly done: number;
  readonly total: number;
  readonly message: string;
}

export interface Work {
  /** Fires when the person has stopped it. What is done by then stays done, and the answer says so, or nothing was done. */
  readonly signal: AbortSignal;
  report(step: WorkStep): void;
}

/** Work that nobody watches. */
export const UNWATCHED: Work = { signal: new AbortController().signal, report: () => {} };

/** The steps of one after the other: each report of `steps` counts within its share of the whole. */
export function counted(work: Work, total: number, message: string): () => void {
  let done = 0;
  work.report({ done, total, message });
  return () => {
    done = Math.min(done + 1, total);
    work.report({ done, total, message });
  };
}
