/** Waits for work that may never end: until a signal aborts, or for a time on the host's clock. */
import type { Clock } from './clock.js';

/** The outcome of some work, unless the signal aborts first. The work itself is not stopped. */
export function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** Resolves after a time, or as soon as the signal aborts. */
export function pause(clock: Clock, milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = (): void => {
      disarm();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const disarm = clock.after(milliseconds, end);
    signal.addEventListener('abort', end, { once: true });
  });
}

/** The outcome of some work; if it takes too long, what `overdue` returns or throws. The work itself is not stopped. */
export async function within<T>(clock: Clock, milliseconds: number, work: Promise<T>, overdue: () => T): Promise<T> {
  let disarm: (() => void) | undefined;
  const late = new Promise<T>((resolve, reject) => {
    disarm = clock.after(milliseconds, () => {
      try {
        resolve(overdue());
      } catch (error) {
        reject(error);
      }
    });
  });
  return Promise.race([work, late]).finally(() => disarm?.());
}

/** Whether the work succeeds in time. */
export function succeedsWithin(clock: Clock, milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  const success = work.then(
    () => true,
    () => false,
  );
  return within(clock, milliseconds, success, () => false);
}

export interface Deadline {
  readonly clock: Clock;
  /** Aborts when the caller no longer wants the result. */
  readonly signal: AbortSignal;
  /** Without a timeout, the work may take any time. */
  readonly timeoutMs: number | undefined;
}

/** Thrown when work exceeds its timeout. */
export class OverdueError extends Error {
  override readonly name = 'OverdueError';
}

/** Suspends the timeout while a person thinks; the returned function starts it again, with the full time. */
export type HoldTime = () => () => void;

/**
 * Runs work with a timeout, at which its signal aborts. The caller waits no longer than that, even if the work ignores
 * the signal. A synchronous result is returned synchronously.
 */
export function withDeadline<T>(
  { clock, signal, timeoutMs }: Deadline,
  work: (signal: AbortSignal, hold: HoldTime) => T | Promise<T>,
): T | Promise<T> {
  signal.throwIfAborted();
  const own = new AbortController();
  let giveUp: (reason: unknown) => void = () => {};
  // Not by a listener of its own signal: those are dear, and every call has several deadlines.
  const end = (reason: unknown) => {
    own.abort(reason);
    giveUp(reason);
  };
  const limit = new TimeLimit(clock, timeoutMs, () => end(overdue(timeoutMs ?? 0)));
  const working = work(own.signal, () => limit.hold());
  if (!(working instanceof Promise)) return working;
  const stop = () => end(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  limit.start();
  return new Promise<T>((resolve, reject) => {
    giveUp = reject;
    working.then(resolve, reject);
  }).finally(() => {
    limit.stop();
    signal.removeEventListener('abort', stop);
  });
}

class TimeLimit {
  #disarm: (() => void) | undefined;
  #holds = 0;
  #isOver = false;

  constructor(
    private readonly clock: Clock,
    private readonly milliseconds: number | undefined,
    private readonly passed: () => void,
  ) {}

  start(): void {
    if (this.#isOver || this.#holds > 0 || this.milliseconds === undefined) return;
    this.#disarm = this.clock.after(this.milliseconds, this.passed);
  }

  hold(): () => void {
    this.#holds += 1;
    this.#disarm?.();
    return () => {
      this.#holds -= 1;
      this.start();
    };
  }

  stop(): void {
    this.#isOver = true;
    this.#disarm?.();
  }
}

function overdue(timeoutMs: number): OverdueError {
  return new OverdueError(`it took longer than ${timeoutMs / 1_000} s and was stopped`);
}
