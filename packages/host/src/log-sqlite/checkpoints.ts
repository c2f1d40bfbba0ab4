/**
 * Moves committed pages from the write-ahead file into the database file, away from the hot path. SQLite would do it
 * inside whichever commit fills the file (some ms, with syncs); here it waits for a quiet moment between commits.
 */
import type { Clock } from '../core/util/clock.js';
import type { Logger } from '../core/util/logger.js';
import type { Database, Statement } from './driver.js';
import { PAGE_BYTES } from './schema.js';

/** From about this many pages of 4 KiB a checkpoint is due: one of a thousand takes 3 to 5 ms. */
export const CHECKPOINT_PAGES = 1_000;
/** A log that is never quiet is not waited for beyond this, so that the file stays below some 16 MiB. */
export const CHECKPOINT_MAX_PAGES = 4_000;
/** Without a commit for this long, the moment is quiet. */
export const CHECKPOINT_QUIET_MS = 50;

export class Checkpoints {
  readonly #checkpoint: Statement<unknown>;
  readonly #clock: Clock;
  readonly #logger: Logger;
  #pages = 0;
  #cancel: () => void = () => {};

  constructor(options: { readonly db: Database; readonly clock: Clock; readonly logger: Logger }) {
    this.#checkpoint = options.db.prepare('PRAGMA wal_checkpoint(PASSIVE)');
    this.#clock = options.clock;
    this.#logger = options.logger;
  }

  /** An estimate is enough: two pages per commit, one for every second row because of the indexes, and the text. */
  wrote(rows: number, characters: number): void {
    this.#pages += 2 + rows / 2 + characters / PAGE_BYTES;
    if (this.#pages < CHECKPOINT_PAGES) return;
    this.#cancel();
    // Even when overdue it runs after the caller has handed on what it committed.
    this.#cancel = this.#clock.after(this.#pages < CHECKPOINT_MAX_PAGES ? CHECKPOINT_QUIET_MS : 0, () => this.#run());
  }

  stop(): void {
    this.#cancel();
  }

  #run(): void {
    this.#pages = 0;
    try {
      this.#checkpoint.all();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#logger.log('warn', 'a checkpoint of the log failed; it is tried again later', { reason });
    }
  }
}
