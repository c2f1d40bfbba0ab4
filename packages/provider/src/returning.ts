/** Remembers who the provider was, for as long as the gateway keeps its place. */

import type { Clock } from '@atrium/link';
import { RECONNECT_WINDOW_MS } from '@atrium/protocol/provider';
import { NO_RECONNECT_TOKEN } from './habits.js';

export class Returning {
  readonly #clock: Clock;
  #token: string | undefined;
  #lostAt: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  bound(token: string): void {
    this.#token = token === NO_RECONNECT_TOKEN ? undefined : token;
    this.#lostAt = undefined;
  }

  lost(): void {
    this.#lostAt ??= this.#clock.now();
  }

  /** What to show with the next `hello`. After the window it would only be a stranger's. */
  token(): string | undefined {
    const isInTime = this.#lostAt === undefined || this.#clock.now() - this.#lostAt < RECONNECT_WINDOW_MS;
    return isInTime ? this.#token : undefined;
  }
}
