/** Sends pushes no faster than the gateway takes them, and queues a few while it is away. */

import type { Clock } from '@atrium/link';
import { type Deferred, deferred } from '@atrium/link';
import { type ProviderPushMessage, PUSHES_PER_SECOND_MAX } from '@atrium/protocol/provider';
import { LocalErrorCode, ProviderError } from './errors.js';

/** Ten seconds' worth; older pushes are no longer news. */
export const PUSHES_WAITING_MAX = 100;
const SECOND_MS = 1_000;

interface Waiting extends Deferred<void> {
  readonly message: ProviderPushMessage;
}

interface PushSenderOptions {
  readonly clock: Clock;
  isReady(): boolean;
  send(message: ProviderPushMessage): void;
}

export class Pushes {
  readonly #options: PushSenderOptions;
  readonly #waiting: Waiting[] = [];
  #recent = 0;

  constructor(options: PushSenderOptions) {
    this.#options = options;
  }

  /** Resolves when it is sent. */
  push(message: ProviderPushMessage): Promise<void> {
    if (this.#waiting.length >= PUSHES_WAITING_MAX) {
      const full = deferred<void>();
      full.reject(new ProviderError(LocalErrorCode.PushQueueFull, `${PUSHES_WAITING_MAX} pushes are waiting`));
      return full.promise;
    }
    const waiting = { message, ...deferred<void>() };
    this.#waiting.push(waiting);
    this.flush();
    return waiting.promise;
  }

  flush(): void {
    while (this.#recent < PUSHES_PER_SECOND_MAX && this.#options.isReady()) {
      const next = this.#waiting.shift();
      if (!next) return;
      this.#recent += 1;
      this.#options.clock.after(SECOND_MS, () => {
        this.#recent -= 1;
        this.flush();
      });
      this.#options.send(next.message);
      next.resolve();
    }
  }

  close(error: Error): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}
