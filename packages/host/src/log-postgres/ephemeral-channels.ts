/**
 * Channels of which the engine keeps numbers only, such as terminals: what a client missed of them is known while it is in
 * memory, and never from the engine.
 */
import type { NewEntry, Stored } from '@atrium/core/log/log.js';

/** The newest ones are known by name; of the others it is known how far they went. */
export const EPHEMERAL_CHANNELS_MAX = 4_096;

export class EphemeralChannels {
  /** The last number of each, those with the newest last. */
  readonly #last = new Map<string, number>();
  /** Channels that are not known by name any more went up to here. */
  #forgottenUpTo = 0;

  constructor(private readonly max = EPHEMERAL_CHANNELS_MAX) {}

  add(entries: readonly NewEntry[], { first }: Stored): void {
    for (const [index, { isEphemeral, channel }] of entries.entries()) {
      if (!isEphemeral) continue;
      this.#last.delete(channel);
      this.#last.set(channel, first + index);
      if (this.#last.size > this.max) this.#forgetOldest();
    }
  }

  /** Whether something happened in one of the channels behind a number that the engine cannot tell. */
  isLostBehind(after: number, channels: readonly string[]): boolean {
    return after < this.#forgottenUpTo || channels.some((channel) => (this.#last.get(channel) ?? 0) > after);
  }

  #forgetOldest(): void {
    for (const [channel, last] of this.#last) {
      this.#last.delete(channel);
      this.#forgottenUpTo = Math.max(this.#forgottenUpTo, last);
      return;
    }
  }
}
