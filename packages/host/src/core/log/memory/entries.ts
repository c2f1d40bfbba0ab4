/** The entries in memory: appended in order, read by number or by channel, dropped from the old end. */
import type { LogEntry, ReadRange } from '../log.js';

export class MemoryEntries {
  #head = 0;
  #entries: LogEntry[] = [];

  get head(): number {
    return this.#head;
  }

  get oldest(): number {
    return this.#entries[0]?.seq ?? this.#head + 1;
  }

  add(entry: LogEntry): void {
    this.#head = entry.seq;
    this.#entries.push(entry);
  }

  /** Numbers have no gaps, so that the first one wanted is found without a search. */
  read({ after, channel, limit }: ReadRange): LogEntry[] {
    const behind = this.#entries.slice(Math.max(0, after + 1 - this.oldest));
    const chosen = channel === undefined ? behind : behind.filter((entry) => entry.channel === channel);
    return limit === undefined ? chosen : chosen.slice(0, limit);
  }

  /** Drops entries up to a number, but none from the first on that is still needed. */
  drop(upTo: number, isNeeded: (entry: LogEntry) => boolean): void {
    const firstKept = this.#entries.findIndex((entry) => entry.seq > upTo || isNeeded(entry));
    this.#entries = firstKept < 0 ? [] : this.#entries.slice(firstKept);
  }

  /** The numbers stay, and whose they were; what happened under them is gone. */
  blank(channel: string): void {
    this.#entries = this.#entries.map((entry) =>
      entry.channel === channel ? { ...entry, channel: '', action: '' } : entry,
    );
  }

  /** What happened stays; that this client asked for it is gone. */
  disown(clientId: string): void {
    this.#entries = this.#entries.map((entry) => {
      if (entry.origin?.clientId !== clientId) return entry;
      const { origin: _origin, ...rest } = entry;
      return rest;
    });
  }
}
