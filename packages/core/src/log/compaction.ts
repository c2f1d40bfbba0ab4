/**
 * Keeps the log short: entries that archives have passed are dropped now and then, away from the hot path. An entry
 * that its session still needs holds back everything behind it, so a session that was not opened for long is archived.
 */
import type { Logger } from '../util/logger.js';
import type { Log, NewEntry, Stored } from './log.js';

/** How often, counted in numbers of the sequence, entries are dropped that archives have passed. */
export const COMPACT_EVERY_ENTRIES = 10_000;
/** And how often, counted in characters of what was stored: a draft is stored as a whole with every key. */
export const COMPACT_EVERY_CHARACTERS = 64 * 2 ** 20;
/** Sessions that are opened, at most, because what they need holds the dropping of entries back. */
export const COMPACT_SESSIONS_MAX = 100;

export interface CompactionOptions {
  readonly log: Log;
  readonly logger: Logger;
  /** The newest entries that stay, because returning clients are replayed them. */
  readonly keep: number;
  /** Archives a session as it is now; false when it cannot be opened. */
  storeArchive(uri: string): Promise<boolean>;
}

export class Compaction {
  readonly #options: CompactionOptions;
  #isUnderWay = false;
  /** Stored since the last time. */
  #characters = 0;

  constructor(options: CompactionOptions) {
    this.#options = options;
  }

  stored({ first, last, entries = [] }: Stored & { readonly entries?: readonly Pick<NewEntry, 'action'>[] }): void {
    const rounds = (seq: number) => Math.floor(seq / COMPACT_EVERY_ENTRIES);
    for (const { action } of entries) this.#characters += action.length;
    const isDue = rounds(last) > rounds(first - 1) || this.#characters > COMPACT_EVERY_CHARACTERS;
    if (!isDue || this.#isUnderWay) return;
    this.#isUnderWay = true;
    this.#characters = 0;
    this.#compact()
      .catch((error) => this.#options.logger.log('warn', 'could not compact the log', { error: String(error) }))
      .finally(() => {
        this.#isUnderWay = false;
      });
  }

  async #compact(): Promise<void> {
    const { log, keep, storeArchive } = this.#options;
    const last = log.head - keep;
    await log.compact({ upTo: last, keep });
    for (let sessions = 0; sessions < COMPACT_SESSIONS_MAX && log.oldest <= last; sessions++) {
      // The first that is left, which after a repair may be below the oldest that clients are told of.
      const [needed] = await log.read({ after: 0, limit: 1 });
      if (!needed || !(await storeArchive(needed.channel))) return;
      await log.compact({ upTo: last, keep });
    }
  }
}
