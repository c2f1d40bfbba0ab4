/** How long to wait before the next attempt to connect. */

export const BACKOFF_FACTOR = 1.5;

export interface BackoffRange {
  readonly min: number;
  readonly max: number;
}

/**
 * A random point between this step and the next, so that peers which lost one host do not all return at the same moment.
 * `failures` counts failures in a row from 0, `random` is in [0, 1).
 */
export function backoffDelay({ min, max }: BackoffRange, failures: number, random: number): number {
  const step = Math.min(min * BACKOFF_FACTOR ** failures, max / BACKOFF_FACTOR);
  return Math.round(step * (1 + (BACKOFF_FACTOR - 1) * random));
}
