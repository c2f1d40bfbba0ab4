/** The outcome of looking at something from outside: the value with its type, or one problem in plain words. */

export interface Problem {
  /** Where, as a JSON Pointer: `/action/turnId`; empty for the value itself. */
  readonly path: string;
  /** What should have been there: `a string`, `one of "allow", "deny"`. */
  readonly expected: string;
}

export type Checked<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: Problem };

/** The problem as a sentence for an error message. */
export function describeProblem({ path, expected }: Problem): string {
  return `${path || 'the value'} must be ${expected}`;
}
