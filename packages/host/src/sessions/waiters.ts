/** Who waits for something to happen in a session. They look at what is stored: whoever acts, and however, that tells. */
import type { SessionState } from '@atrium/protocol';
import type { Step } from '../channels/channel.js';

/** Thrown into whoever still waits, or works, for a turn that is over. */
export class TurnOverError extends Error {
  override readonly name = 'AbortError';
  constructor() {
    super('the turn is over');
  }
}

/** Looks at the state that is stored, or at a step that has just been, and gives what it waited for. */
export type Find<T> = (state: SessionState, step?: Step<SessionState>) => T | undefined;

interface Waiter {
  /** Looks at a stored step; true when it had waited for it. */
  readonly isDone: (step: Step<SessionState>) => boolean;
  readonly abandon: () => void;
}

export class Waiters {
  readonly #waiting = new Set<Waiter>();

  wait<T>(find: Find<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const isDone = (step: Step<SessionState>): boolean => {
        const value = find(step.after, step);
        if (value !== undefined) resolve(value);
        return value !== undefined;
      };
      this.#waiting.add({ isDone, abandon: () => reject(new TurnOverError()) });
    });
  }

  /** A step has been stored. */
  observe(step: Step<SessionState>): void {
    for (const waiter of this.#waiting) if (waiter.isDone(step)) this.#waiting.delete(waiter);
  }

  /** What they wait for does not come any more. */
  abandon(): void {
    for (const waiter of this.#waiting) waiter.abandon();
    this.#waiting.clear();
  }
}
