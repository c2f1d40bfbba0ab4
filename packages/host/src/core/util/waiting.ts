/** Waiting for things that may never come: until somebody gives up, or for a time by the host's clock. */
import type { Clock } from './clock.js';

/** The outcome of some work, unless the signal fires first; the work itself is not stopped. */
export function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** Resolves after a time, or as soon as the signal fires. */
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

/** The outcome of some work; when it takes too long, what `overdue` returns or throws. The work itself is not stopped. */
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
