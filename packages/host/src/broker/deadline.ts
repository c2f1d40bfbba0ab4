/** Work that has to end: when its time is up, or when whoever wanted it does not want it any more. */
import type { Clock } from '../clock.js';
import { untilAborted } from '../waiting.js';

export interface Deadline {
  readonly clock: Clock;
  /** Fires when the result is no longer wanted. */
  readonly signal: AbortSignal;
  /** Without one, the work may take as long as it likes. */
  readonly timeoutMs: number | undefined;
}

/** The time was up. */
export class OverdueError extends Error {
  override readonly name = 'OverdueError';
}

/**
 * The work is told by its signal; whether it listens or not, nobody waits for it any longer then. What is there at once
 * is given back at once.
 */
export function within<T>(
  { clock, signal, timeoutMs }: Deadline,
  work: (signal: AbortSignal) => T | Promise<T>,
): T | Promise<T> {
  signal.throwIfAborted();
  const own = new AbortController();
  const working = work(own.signal);
  if (!(working instanceof Promise)) return working;
  const stop = () => own.abort(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  const disarm = timeoutMs === undefined ? undefined : clock.after(timeoutMs, () => own.abort(overdue(timeoutMs)));
  return untilAborted(own.signal, working).finally(() => {
    disarm?.();
    signal.removeEventListener('abort', stop);
  });
}

function overdue(timeoutMs: number): OverdueError {
  return new OverdueError(`it took longer than ${timeoutMs / 1_000} s and was stopped`);
}
