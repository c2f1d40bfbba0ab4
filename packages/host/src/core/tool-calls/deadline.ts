/** Work that has to end: when its time is up, or when whoever wanted it does not want it any more. */
import type { Clock } from '../util/clock.js';
import { untilAborted } from '../util/waiting.js';

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

/** Stops the clock, for as long as a person thinks; the returned function gives the work all its time again. */
export type HoldTime = () => () => void;

/**
 * The work is told by its signal; whether it listens or not, nobody waits for it any longer then. What is there at once
 * is given back at once.
 */
export function within<T>(
  { clock, signal, timeoutMs }: Deadline,
  work: (signal: AbortSignal, hold: HoldTime) => T | Promise<T>,
): T | Promise<T> {
  signal.throwIfAborted();
  const own = new AbortController();
  const limit = new TimeLimit(clock, timeoutMs, () => own.abort(overdue(timeoutMs ?? 0)));
  const working = work(own.signal, () => limit.hold());
  if (!(working instanceof Promise)) return working;
  const stop = () => own.abort(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  limit.start();
  return untilAborted(own.signal, working).finally(() => {
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
