/** The records: small facts by key, listed by prefix. */

import { REBUILT_RECORD, type StoredRecord } from '@atrium/core/log/log.js';
import type { JournalRecords } from './commit-journal.js';
import { type Damage, fits, sumOf } from './damage.js';
import type { Database, Statement } from './driver.js';

/** Rows per query: the driver's objects take several times the size of a row. */
const PAGE_ROWS = 500;

const NONE: JournalRecords = new Map();

interface SummedRow extends StoredRecord {
  readonly sum: number | null;
}

export class RecordTable {
  readonly #put: Statement<never>;
  readonly #remove: Statement<never>;
  readonly #get: Statement<Omit<SummedRow, 'key'>>;
  readonly #bytes: Statement<{ hex: string }>;
  readonly #list: Statement<SummedRow>;
  readonly #damage: Damage;

  constructor(db: Database, damage: Damage) {
    this.#damage = damage;
    this.#put = db.prepare('INSERT OR REPLACE INTO records VALUES (?, ?, ?)');
    this.#bytes = db.prepare('SELECT hex(value) AS hex FROM records WHERE key = ?');
    this.#remove = db.prepare('DELETE FROM records WHERE key = ?');
    this.#get = db.prepare(`SELECT ${db.text('value')} AS value, sum FROM records WHERE key = ?`);
    // The greatest code point ends the range: a plain LIKE would not use the index.
    this.#list = db.prepare(`
      SELECT ${db.text('key')} AS key, ${db.text('value')} AS value, sum FROM records
      WHERE records.key >= ?1 AND records.key < ?1 || char(0x10ffff) AND records.key > ?2
      ORDER BY records.key LIMIT ${PAGE_ROWS}`);
  }

  put(key: string, value: string | null): void {
    if (value === null) this.#remove.run(key);
    else this.#put.run(key, value, sumOf(key, value));
  }

  get(key: string): string | undefined {
    const row = this.#get.get(key);
    if (row === undefined) return undefined;
    return fits(row.sum, key, row.value) ? row.value : this.#damaged(key);
  }

  list(prefix: string, waiting: JournalRecords = NONE): StoredRecord[] {
    const records: StoredRecord[] = [];
    this.each(prefix, (record) => records.push(record), waiting);
    return records;
  }

  /** In the order of their keys. Some may wait to be put here, or to be removed. */
  each(prefix: string, visit: (record: StoredRecord) => void, waiting: JournalRecords = NONE): void {
    const keys = [...waiting.keys()].filter((key) => key.startsWith(prefix)).sort(byBytes);
    if (keys.length === 0) return this.#each(prefix, visit);
    const visitWaiting = (isDue: (key: string) => boolean) => {
      while (keys[0] !== undefined && isDue(keys[0])) {
        const key = keys.shift() ?? '';
        const value = waiting.get(key);
        if (typeof value === 'string') visit({ key, value });
      }
    };
    this.#each(prefix, (record) => {
      visitWaiting((key) => byBytes(key, record.key) <= 0);
      if (!waiting.has(record.key)) visit(record);
    });
    visitWaiting(() => true);
  }

  #each(prefix: string, visit: (record: StoredRecord) => void): void {
    let page: SummedRow[];
    let last = '';
    do {
      page = this.#list.all(prefix, last);
      for (const { key, value, sum } of page) {
        if (fits(sum, key, value)) visit({ key, value });
        else this.#damaged(key);
      }
      last = page.at(-1)?.key ?? last;
    } while (page.length === PAGE_ROWS);
  }

  /** Removes the record. The session's archive contains the same facts, and the host reads them there. */
  #damaged(key: string): undefined {
    const hex = this.#bytes.get(key)?.hex ?? '';
    this.#damage.found({ what: `the record ${key}`, instead: 'it was left out', hex });
    this.#damage.mend(() => {
      this.put(key, null);
      if (this.get(REBUILT_RECORD) === undefined) this.put(REBUILT_RECORD, '{}');
    });
  }
}

/** The order of SQLite. */
function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
