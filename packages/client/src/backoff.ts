/** How long a client waits before it connects again. */
import { backoffDelay } from '@atrium/link';

export const BACKOFF_VISIBLE_MS = { min: 500, max: 2_000 } as const;
/** A page that is not visible may wait longer. */
export const BACKOFF_HIDDEN_MS = { min: 1_000, max: 300_000 } as const;

export interface BackoffInput {
  /** Failures in a row so far, from 0. */
  readonly failures: number;
  readonly visible: boolean;
  /** In [0, 1). */
  readonly random: number;
}

export function reconnectDelay({ failures, visible, random }: BackoffInput): number {
  return backoffDelay(visible ? BACKOFF_VISIBLE_MS : BACKOFF_HIDDEN_MS, failures, random);
}
