/**
 * Keeps the log short: now and then, away from the hot path, it drops entries that archives already include. An entry
 * that its session still needs holds back all later ones, so compaction archives sessions that were not opened for a
 * long time.
 */
import type { Logger } from '../util/logger.js';
import type { Log, NewEntry, Stored } from './log.js';

/** Entries are dropped every time the sequence has grown by this many numbers … */
export const COMPACT_EVERY_ENTRIES = 10_000;
/** … and every time this many characters have been stored: a draft is stored as a whole with every key. */
export const COMPACT_EVERY_CHARACTERS = 64 * 2 ** 20;
/** At most this many sessions are opened and archived in one run, because their entries hold back the others. */
export const COMPACT_SESSIONS_MAX = 100;

export interface CompactionOptions {
  readonly log: Log;
  readonly logger: Logger;
  /** How many of the newest entries stay, for replay to returning clients. */
  readonly keep: number;
  /** Archives a session in its current state; false when it cannot be opened. */
  storeArchive(uri: string): Promise<boolean>;
}

export class Compaction {
  readonly #options: CompactionOptions;
  #isRunning = false;
  /** Characters stored since the last run. */
  #characters = 0;

  constructor(options: CompactionOptions) {
    this.#options = options;
  }

  stored({ first, last, entries = [] }: Stored & { readonly entries?: readonly Pick<NewEntry, 'action'>[] }): void {
    const rounds = (seq: number) => Math.floor(seq / COMPACT_EVERY_ENTRIES);
    for (const { action } of entries) this.#characters += action.length;
    const isDue = rounds(last) > rounds(first - 1) || this.#characters > COMPACT_EVERY_CHARACTERS;
    if (!isDue || this.#isRunning) return;
    this.#isRunning = true;
    this.#characters = 0;
    this.#compact()
      .catch((error) => this.#options.logger.log('warn', 'could not compact the log', { error: String(error) }))
      .finally(() => {
        this.#isRunning = false;
      });
  }

  async #compact(): Promise<void> {
    const { log, keep, storeArchive } = this.#options;
    const last = log.head - keep;
    await log.compact({ upTo: last, keep });
    for (let sessions = 0; sessions < COMPACT_SESSIONS_MAX && log.oldest <= last; sessions++) {
      // The first entry left. After a repair, it may be below `oldest`, which is what clients are told.
      const [needed] = await log.read({ after: 0, limit: 1 });
      if (!needed || !(await storeArchive(needed.channel))) return;
      await log.compact({ upTo: last, keep });
    }
  }
}
