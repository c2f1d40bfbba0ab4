/** The newest entries of a log, kept in memory so that a client that was away for a moment is given just what it missed. */
import { REPLAY_MAX_BYTES, REPLAY_MAX_ENVELOPES } from './limits.js';
import type { LogEntry, NewEntry, ReplayLimits, Stored } from './log.js';

export class RecentEntries {
  /** The first has the number `#first`, and there are no gaps. */
  #kept: NewEntry[] = [];
  #first: number;
  #bytes = 0;
  readonly #limits: ReplayLimits;
  /** Entries up to this number were stored before: they are not kept here, and can be read. */
  readonly #before: number;

  constructor(head: number, limits: ReplayLimits = { entries: REPLAY_MAX_ENVELOPES, bytes: REPLAY_MAX_BYTES }) {
    this.#before = head;
    this.#first = head + 1;
    this.#limits = limits;
  }

  /** Takes the entries of a commit with the numbers that it got. */
  add(entries: readonly NewEntry[], { last }: Stored): void {
    for (const entry of entries) {
      this.#kept.push(entry);
      this.#bytes += entry.action.length;
    }
    let dropped = 0;
    while (this.#kept.length - dropped > this.#limits.entries || this.#bytes > this.#limits.bytes) {
      this.#bytes -= this.#kept[dropped++]?.action.length ?? 0;
    }
    if (dropped > 0) this.#kept.splice(0, dropped);
    this.#first = last + 1 - this.#kept.length;
  }

  /**
   * Everything behind a number, of some channels; undefined when that is too much, or no longer known. `older` reads what
   * was stored before this log was opened.
   */
  missed(
    request: MissedRequest,
    older: (range: { readonly after: number; readonly limit: number }) => readonly LogEntry[],
  ): readonly LogEntry[] | undefined {
    const { after, channels, limits } = request;
    const head = this.#first + this.#kept.length - 1;
    if (after < 0 || after > head || head - after > limits.entries) return undefined;
    const stored = after < this.#before ? this.#stored(after, older) : [];
    if (!stored || after < this.#first - 1 - stored.length) return undefined;
    const recent = this.#kept.slice(Math.max(0, after + 1 - this.#first));
    const bytes = [...stored, ...recent].reduce((sum, { action }) => sum + action.length, 0);
    if (bytes > limits.bytes) return undefined;
    const start = head + 1 - recent.length;
    const all = [...stored, ...recent.map((entry, index) => withNumber(entry, start + index))];
    const wanted = new Set(channels);
    return all.filter(({ channel }) => wanted.has(channel));
  }

  /** What was stored before, as far as it follows the number without a gap. Damage hides what a client missed. */
  #stored(
    after: number,
    older: (range: { readonly after: number; readonly limit: number }) => readonly LogEntry[],
  ): readonly LogEntry[] | undefined {
    const entries = older({ after, limit: this.#before - after });
    const isFollowed = entries.at(0)?.seq === after + 1 && entries.at(-1)?.seq === this.#before;
    const isWhole = isFollowed && !entries.some(({ isDamaged }) => isDamaged);
    return isWhole ? entries : undefined;
  }

  /** A channel is forgotten: its numbers stay. */
  blank(channel: string): void {
    this.#kept = this.#kept.map((entry) => (entry.channel === channel ? { ...entry, channel: '', action: '' } : entry));
    this.#bytes = this.#kept.reduce((sum, { action }) => sum + action.length, 0);
  }

  /** A client is forgotten: what it asked for stays. */
  disown(clientId: string): void {
    this.#kept = this.#kept.map((entry) =>
      entry.origin?.clientId === clientId ? { ...entry, origin: undefined } : entry,
    );
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
