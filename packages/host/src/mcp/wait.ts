/** Waiting by the host's clock. */
import type { Clock } from '../clock.js';

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

/** The outcome of some work, unless it takes too long; the work itself is not stopped. */
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
