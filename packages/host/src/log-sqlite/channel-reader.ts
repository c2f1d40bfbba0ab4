/**
 * Reads a channel when it is opened: in slices, so that a large one does not block the others, yet all of it as of one
 * number.
 */
import { closedError, type LogEntry, type StoredChannel } from '@atrium/core/log/log.js';
import { nextSlice } from '@atrium/core/util/slices.js';
import type { ArchiveTable } from './archives.js';
import type { EntryTable } from './entries.js';

/** How much of turns and entries one slice reads. A single turn is read at once, however large it is. */
const SLICE_BYTES = 256 * 2 ** 10;
const SLICE_ENTRIES = 1_000;

interface Reading {
  readonly channel: string;
  /** The channel was archived again, or forgotten, since the reading began. */
  isStale: boolean;
}

export interface ChannelReaderOptions {
  readonly entries: Pick<EntryTable, 'read'>;
  readonly archives: ArchiveTable;
  /** The highest number of the log. */
  readonly head: () => number;
  readonly isClosed: () => boolean;
}

export class ChannelReader {
  readonly #options: ChannelReaderOptions;
  readonly #readings = new Set<Reading>();

  constructor(options: ChannelReaderOptions) {
    this.#options = options;
  }

  /** Call it when the archive or the turns of a channel have changed: its readers start over. */
  changed(channel: string): void {
    for (const reading of this.#readings) if (reading.channel === channel) reading.isStale = true;
  }

  async read(channel: string, turns: number): Promise<StoredChannel | undefined> {
    const reading = { channel, isStale: false };
    this.#readings.add(reading);
    try {
      for (;;) {
        const stored = await this.#attempt(reading, turns);
        if (!reading.isStale) return stored;
        reading.isStale = false;
      }
    } finally {
      this.#readings.delete(reading);
    }
  }

  async #attempt(reading: Reading, count: number): Promise<StoredChannel | undefined> {
    const seq = this.#options.head();
    const archive = this.#options.archives.head(reading.channel);
    const end = archive?.turnCount ?? 0;
    const turns = await this.#turns(reading, Math.max(0, end - count), end);
    const tail = await this.#tail(reading, archive?.seq ?? 0, seq);
    return archive || tail.length > 0 ? { seq, archive, turns, tail } : undefined;
  }

  async #turns(reading: Reading, start: number, end: number): Promise<StoredChannel['turns']> {
    const { channel } = reading;
    const turns = [];
    while (start + turns.length < end && !reading.isStale) {
      if (turns.length > 0) await this.#nextSlice();
      const range = { start: start + turns.length, end, maxBytes: SLICE_BYTES };
      const page = this.#options.archives.turns(channel, range);
      if (page.length === 0 && !reading.isStale)
        throw new Error(`turn ${range.start} of ${channel} is missing in the log`);
      turns.push(...page);
    }
    return turns;
  }

  /** Leaves out entries that are stored during the reading: they have higher numbers. */
  async #tail(reading: Reading, archivedAt: number, seq: number): Promise<LogEntry[]> {
    const tail: LogEntry[] = [];
    for (let after = archivedAt; after < seq && !reading.isStale; ) {
      if (tail.length > 0) await this.#nextSlice();
      const page = this.#options.entries.read({ after, channel: reading.channel, limit: SLICE_ENTRIES });
      for (const entry of page) if (entry.seq <= seq) tail.push(entry);
      after = page.length < SLICE_ENTRIES ? seq : (page.at(-1)?.seq ?? seq);
    }
    return tail;
  }

  async #nextSlice(): Promise<void> {
    await nextSlice();
    if (this.#options.isClosed()) throw closedError();
  }
}
