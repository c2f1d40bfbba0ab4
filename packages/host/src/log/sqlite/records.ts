/** The records: small facts by key, listed by prefix. */
import type { LogRecord } from '../log.js';
import type { Database, Statement } from './driver.js';

/** Rows that are read in one go: what the driver makes of each is several times its size, for a moment. */
const PAGE_ROWS = 500;

interface RecordRow {
  readonly key: string;
  readonly value: string;
}

export class RecordTable {
  readonly #put: Statement<never>;
  readonly #remove: Statement<never>;
  readonly #get: Statement<{ value: string }>;
  readonly #list: Statement<RecordRow>;

  constructor(db: Database) {
    this.#put = db.prepare('INSERT OR REPLACE INTO records VALUES (?, ?)');
    this.#remove = db.prepare('DELETE FROM records WHERE key = ?');
    this.#get = db.prepare(`SELECT ${db.text('value')} AS value FROM records WHERE key = ?`);
    // The greatest code point ends the range: a plain LIKE would not use the index.
    this.#list = db.prepare(`
      SELECT ${db.text('key')} AS key, ${db.text('value')} AS value FROM records
      WHERE records.key >= ?1 AND records.key < ?1 || char(0x10ffff) AND records.key > ?2
      ORDER BY records.key LIMIT ${PAGE_ROWS}`);
  }

  put({ key, value }: LogRecord): void {
    if (value === null) this.#remove.run(key);
    else this.#put.run(key, value);
  }

  get(key: string): string | undefined {
    return this.#get.get(key)?.value;
  }

  list(prefix: string): RecordRow[] {
    const rows: RecordRow[] = [];
    let page: RecordRow[];
    do {
      page = this.#list.all(prefix, rows.at(-1)?.key ?? '');
      for (const { key, value } of page) rows.push({ key, value });
    } while (page.length === PAGE_ROWS);
    return rows;
  }
}
