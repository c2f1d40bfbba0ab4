/**
 * Channels of which the engine keeps only numbers, such as terminals. What a client missed of them is known only while
 * it is in memory; the engine never has it.
 */
import type { NewEntry, Stored } from '@atrium/core/log/log.js';

/** The newest channels are remembered by name; of the others only the last number of all is known. */
export const EPHEMERAL_CHANNELS_MAX = 4_096;

export class EphemeralChannels {
  /** The last number of each channel; the most recent channel comes last. */
  readonly #last = new Map<string, number>();
  /** The highest number in channels that are no longer remembered by name. */
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

  /** Whether something happened in one of the channels after a number, which the engine cannot replay. */
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
