/** Work of the host that takes a while: a person sees how far it is, and can stop it. */

export interface WorkStep {
  /** Never decreases; at most `total`. */
  readonly done: number;
  readonly total: number;
  readonly message: string;
}

export interface Work {
  /** Aborts when the person stops the work. What is done stays done, and the answer says what that is. */
  readonly signal: AbortSignal;
  report(step: WorkStep): void;
}

/** Work without anyone who watches or stops it. */
export const UNWATCHED: Work = { signal: new AbortController().signal, report: () => {} };

/** Reports the start of counted work. The returned function reports one more step as done. */
export function counted(work: Work, total: number, message: string): () => void {
  let done = 0;
  work.report({ done, total, message });
  return () => {
    done = Math.min(done + 1, total);
    work.report({ done, total, message });
  };
}
