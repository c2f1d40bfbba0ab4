/** How long to wait before the next attempt. */

export const BACKOFF_VISIBLE_MS = { min: 500, max: 2_000 } as const;
export const BACKOFF_HIDDEN_MS = { min: 1_000, max: 300_000 } as const;
export const BACKOFF_FACTOR = 1.5;

export interface BackoffInput {
  /** Failures in a row so far, from 0. */
  readonly failures: number;
  readonly visible: boolean;
  /** In [0, 1). */
  readonly random: number;
}

/** A random point between this step and the next, so that clients which lost one host do not return in one moment. */
export function backoffDelay({ failures, visible, random }: BackoffInput): number {
  const { min, max } = visible ? BACKOFF_VISIBLE_MS : BACKOFF_HIDDEN_MS;
  const step = Math.min(min * BACKOFF_FACTOR ** failures, max / BACKOFF_FACTOR);
  return Math.round(step * (1 + (BACKOFF_FACTOR - 1) * random));
}
