/** How many calls a provider takes at once. The rest wait in line, but not in an endless one. */
import { QUEUED_CALLS_MAX } from '@atrium/protocol/provider';

/** A place for one call. Given back once, however often `release` is called. */
export interface Slot {
  release(): void;
}

interface Waiting {
  readonly enter: () => void;
}

/** One counter: for an instance, for a provider or for a tool, as its provider chose. */
export class Slots {
  readonly #max: number;
  readonly #queue: Waiting[] = [];
  #taken = 0;

  constructor(max: number | undefined) {
    this.#max = max ?? Number.POSITIVE_INFINITY;
  }

  /** Resolves when it is the call's turn, undefined when the line is too long. Rejects when the signal fires first. */
  take(signal: AbortSignal): Promise<Slot> | undefined {
    if (this.#taken < this.#max) return Promise.resolve(this.#give());
    if (this.#queue.length >= QUEUED_CALLS_MAX) return undefined;
    return new Promise((resolve, reject) => {
      const leave = () => {
        const index = this.#queue.indexOf(waiting);
        if (index >= 0) this.#queue.splice(index, 1);
        reject(signal.reason);
      };
      const waiting: Waiting = {
        enter: () => {
          signal.removeEventListener('abort', leave);
          resolve(this.#give());
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#queue.push(waiting);
    });
  }

  #give(): Slot {
    let isHeld = true;
    this.#taken += 1;
    return {
      release: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#taken -= 1;
        this.#queue.shift()?.enter();
      },
    };
  }
}
