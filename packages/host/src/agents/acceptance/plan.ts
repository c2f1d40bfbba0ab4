/** What is to be thought behind a backend. Whoever tests one turns the plan into answers of a model it can reach. */

/** One answer of whatever thinks. Answers are used up in order, over all turns. */
export interface PlannedAnswer {
  readonly reasoning?: string;
  /** Piece by piece. */
  readonly text?: readonly string[];
  /** A call, whose result the next answer follows. The name is the host's; the model may know it as another. */
  readonly call?: { readonly name: string; readonly input: Readonly<Record<string, string>> };
  readonly usage?: { readonly input: number; readonly output: number };
  /** After what it said, it falls silent for good. */
  readonly hangs?: boolean;
  /** However often it is asked again within the same turn. */
  readonly fails?: PlannedFailure;
}

export const PLANNED_FAILURES = [
  'auth',
  'rate-limited',
  'overloaded',
  'context-overflow',
  'network',
  'model-not-found',
  'other',
] as const;
export type PlannedFailure = (typeof PLANNED_FAILURES)[number];
