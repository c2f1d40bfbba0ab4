/** Bearer tokens that clients bring, and how long they are valid. */
import type { Clock } from './clock.js';

/** A token as a client brings it. */
export interface TokenGrant {
  readonly token: string;
  /** Seconds for which it is valid; absent: until the server refuses it. */
  readonly expiresIn?: number | undefined;
  /** What it grants. */
  readonly scopes?: readonly string[] | undefined;
}

/** The longest delay of a system timer. */
const TIMER_MAX_MS = 2 ** 31 - 1;

/** Calls back when a token has expired; the returned function cancels that. */
export function tokenTimer(clock: Clock, expiresIn: number | undefined, expired: () => void): () => void {
  if (expiresIn === undefined) return () => {};
  const end = clock.now() + expiresIn * 1_000;
  let disarm = (): void => {};
  const arm = (): void => {
    const left = end - clock.now();
    disarm = left > 0 ? clock.after(Math.min(left, TIMER_MAX_MS), arm) : disarm;
    if (left <= 0) expired();
  };
  disarm = clock.after(Math.min(expiresIn * 1_000, TIMER_MAX_MS), arm);
  return () => disarm();
}
