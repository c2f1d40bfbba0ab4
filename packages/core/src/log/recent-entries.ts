/** The newest entries of a log, kept in memory: a client that was away for a moment gets exactly what it missed. */
import { REPLAY_MAX_BYTES, REPLAY_MAX_ENVELOPES } from './limits.js';
import type { LogEntry, NewEntry, ReplayLimits, Stored } from './log.js';

export class RecentEntries {
  /**
   * Entries by number, from `#first` on and without gaps. A map, because each commit removes the oldest without moving
   * the others.
   */
  #entries = new Map<number, NewEntry>();
  #first: number;
  #bytes = 0;
  readonly #limits: ReplayLimits;
  /** Entries up to this number were stored before the log was opened: they are not kept here, but can be read. */
  readonly #before: number;

  constructor(head: number, limits: ReplayLimits = { entries: REPLAY_MAX_ENVELOPES, bytes: REPLAY_MAX_BYTES }) {
    this.#before = head;
    this.#first = head + 1;
    this.#limits = limits;
  }

  /** Adds the entries of a commit under the numbers that the log assigned. */
  add(entries: readonly NewEntry[], { first }: Stored): void {
    let seq = first;
    for (const entry of entries) {
      this.#entries.set(seq++, entry);
      this.#bytes += entry.action.length;
    }
    const { entries: most, bytes } = this.#limits;
    while (this.#entries.size > most || this.#bytes > bytes) this.#dropOldest();
  }

  /** By its number: a loop over the map would pass all that were removed since the map last moved its entries. */
  #dropOldest(): void {
    this.#bytes -= this.#entries.get(this.#first)?.action.length ?? 0;
    this.#entries.delete(this.#first);
    this.#first += 1;
  }

  /**
   * The entries of some channels after a number; undefined when they exceed the limits or are no longer known. `older`
   * reads what was stored before the log was opened.
   */
  missed(
    request: MissedRequest,
    older: (range: { readonly after: number; readonly limit: number }) => readonly LogEntry[],
  ): readonly LogEntry[] | undefined {
    const { after, channels, limits } = request;
    const head = this.#first + this.#entries.size - 1;
    if (after < 0 || after > head || head - after > limits.entries) return undefined;
    if (Math.max(after, this.#before) < this.#first - 1) return undefined;
    const stored = after < this.#before ? this.#stored(after, older) : [];
    if (!stored) return undefined;
    const all = [...stored];
    for (const [seq, entry] of this.#entries) if (seq > after) all.push(withNumber(entry, seq));
    const bytes = all.reduce((sum, { action }) => sum + action.length, 0);
    if (bytes > limits.bytes) return undefined;
    const wanted = new Set(channels);
    return all.filter(({ channel }) => wanted.has(channel));
  }

  /** Entries stored before the log was opened, if they follow the number without a gap or damage. */
  #stored(
    after: number,
    older: (range: { readonly after: number; readonly limit: number }) => readonly LogEntry[],
  ): readonly LogEntry[] | undefined {
    const entries = older({ after, limit: this.#before - after });
    const isFollowed = entries.length === this.#before - after && entries.at(-1)?.seq === this.#before;
    const isWhole = isFollowed && !entries.some(({ isDamaged }) => isDamaged);
    return isWhole ? entries : undefined;
  }

  /** Removes the actions of a forgotten channel; their numbers stay. */
  blank(channel: string): void {
    for (const [seq, entry] of this.#entries) {
      if (entry.channel !== channel) continue;
      this.#bytes -= entry.action.length;
      this.#entries.set(seq, { ...entry, channel: '', action: '' });
    }
  }

  /** Removes the name of a forgotten client from its entries; the actions stay. */
  disown(clientId: string): void {
    for (const [seq, entry] of this.#entries) {
      if (entry.origin?.clientId === clientId) this.#entries.set(seq, { ...entry, origin: undefined });
    }
  }
}

export interface MissedRequest {
  readonly after: number;
  readonly channels: readonly string[];
  readonly limits: ReplayLimits;
}

function withNumber({ channel, time, action, origin }: NewEntry, seq: number): LogEntry {
  return origin ? { seq, channel, time, action, origin } : { seq, channel, time, action };
}
