/** When work runs: one at a time, a few at once, again after the last request, or only so often per interval. */
import type { Clock } from './clock.js';

/** The last change of each file. All sessions share this, because files belong to the machine. */
const inProgress = new Map<string, Promise<void>>();

/** Makes changes of the same file one after another: two that begin together must not miss each other's result. */
export async function oneAtATime<T>(file: string, change: () => Promise<T>): Promise<T> {
  const before = inProgress.get(file) ?? Promise.resolve();
  const mine = before.then(change);
  const over = mine.then(
    () => {},
    () => {},
  );
  inProgress.set(file, over);
  try {
    return await mine;
  } finally {
    if (inProgress.get(file) === over) inProgress.delete(file);
  }
}

/** Maps a list, a few items at once: programs run one by one are slow, and all at once are too many. */
export async function mapSome<T, R>(list: readonly T[], atOnce: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = new Array(list.length);
  const left = list.entries();
  const worker = async () => {
    for (const [index, item] of left) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, list.length) }, worker));
  return results;
}

/**
 * Runs a job for every call, but never two at once. Calls before a run begins share that run. The returned function
 * resolves after a run that began when it was called, or later.
 */
export function coalesced(run: () => Promise<void>): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  /** The run that has not begun yet: it sees everything that changes until then. */
  let next: Promise<void> | undefined;
  return () => {
    if (next) return next;
    next = last.then(() => {
      next = undefined;
      return run();
    });
    last = next.catch(() => {});
    return next;
  };
}

export interface Throttle {
  request(): void;
  /** Cancels a request that has not been performed yet. */
  stop(): void;
}

/** Acts at once, then at most once per interval, and never loses the last request. */
export function throttle(clock: Clock, intervalMs: number, act: () => void): Throttle {
  let resting: (() => void) | undefined;
  let again = false;
  const perform = (): void => {
    again = false;
    resting = clock.after(intervalMs, () => {
      resting = undefined;
      if (again) perform();
    });
    act();
  };
  return {
    request() {
      if (resting) again = true;
      else perform();
    },
    stop() {
      resting?.();
      again = false;
    },
  };
}

/**
 * Limits the events of each key within a sliding window, using a clock that never jumps. Forgets keys without recent
 * events.
 */
export class RateLimit {
  readonly #recent = new Map<unknown, number>();

  constructor(
    private readonly clock: Clock,
    private readonly max: number,
    private readonly windowMs: number,
  ) {}

  /** The number of keys being counted, for tests that look for leaks. */
  get size(): number {
    return this.#recent.size;
  }

  /** Counts an event of this key; false when the limit is reached. */
  take(key?: unknown): boolean {
    const recent = this.#recent.get(key) ?? 0;
    if (recent >= this.max) return false;
    this.#recent.set(key, recent + 1);
    this.clock.after(this.windowMs, () => this.#expire(key));
    return true;
  }

  #expire(key: unknown): void {
    const recent = (this.#recent.get(key) ?? 0) - 1;
    if (recent > 0) this.#recent.set(key, recent);
    else this.#recent.delete(key);
  }
}
