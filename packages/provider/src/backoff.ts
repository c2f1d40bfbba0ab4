/** How long to wait before the next attempt to connect. */

/** The first few attempts fall well into the time for which the gateway keeps a lost provider's place. */
export const BACKOFF_MS = { min: 500, max: 15_000 } as const;
export const BACKOFF_FACTOR = 1.5;

/** A random point between this step and the next, so that providers which lost one host do not return in one moment. */
export function backoffDelay(failures: number, random: number): number {
  const step = Math.min(BACKOFF_MS.min * BACKOFF_FACTOR ** failures, BACKOFF_MS.max / BACKOFF_FACTOR);
  return Math.round(step * (1 + (BACKOFF_FACTOR - 1) * random));
}
