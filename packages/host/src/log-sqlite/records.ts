/** The records: small facts by key, listed by prefix. */

import { REBUILT_RECORD, type StoredRecord } from '@atrium/core/log/log.js';
import type { JournalRecords } from './commit-journal.js';
import { type Damage, fits, sumOf } from './damage.js';
import type { Database, Statement } from './driver.js';
import { type SummedText, selectTexts, textsIn } from './summed-texts.js';

/** Rows per query. */
const PAGE_ROWS = 500;

const NONE: JournalRecords = new Map();

export class RecordTable {
  readonly #put: Statement<never>;
  readonly #remove: Statement<never>;
  readonly #get: Statement<{ value: string; sum: number | null }>;
  readonly #bytes: Statement<{ hex: string }>;
  readonly #byKey: Statement<never>;
  readonly #byRow: Statement<never>;
  readonly #damage: Damage;

  constructor(db: Database, damage: Damage) {
    this.#damage = damage;
    this.#put = db.prepare('INSERT OR REPLACE INTO records VALUES (?, ?, ?)');
    this.#bytes = db.prepare('SELECT hex(value) AS hex FROM records WHERE key = ?');
    this.#remove = db.prepare('DELETE FROM records WHERE key = ?');
    this.#get = db.prepare(`SELECT ${db.text('value')} AS value, sum FROM records WHERE key = ?`);
    // The greatest code point ends the range: a plain LIKE would not use the index.
    const rows = `SELECT rowid AS row, key, value AS text, sum FROM records WHERE key >= ?1 AND key < ?1 || char(0x10ffff)`;
    this.#byKey = db.prepare(selectTexts(`${rows} AND key > ?2 ORDER BY key LIMIT ${PAGE_ROWS}`));
    this.#byRow = db.prepare(selectTexts(`${rows} AND rowid > ?2 ORDER BY rowid LIMIT ${PAGE_ROWS}`));
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

  /** In the order of their keys. Some may wait to be put here, or to be removed. */
  list(prefix: string, waiting: JournalRecords = NONE): StoredRecord[] {
    const stored: StoredRecord[] = [];
    for (let last: string | undefined = ''; last !== undefined; ) {
      last = this.#visit(textsIn(this.#byKey.bytes(prefix, last)), (record) => stored.push(record))?.key;
    }
    const added = waitingRecords(prefix, waiting);
    const records = [...stored.filter(({ key }) => !waiting.has(key)), ...added];
    return added.length === 0 ? records : records.sort(byBytes);
  }

  /** In any order: more than a page of them are read as they stand in the file, so that none has to be looked for. */
  each(prefix: string, visit: (record: StoredRecord) => void, waiting: JournalRecords = NONE): void {
    const visitStored = (record: StoredRecord) => {
      if (!waiting.has(record.key)) visit(record);
    };
    const few = textsIn(this.#byKey.bytes(prefix, ''));
    if (few.length < PAGE_ROWS) this.#visit(few, visitStored);
    else
      for (let last: number | undefined = 0; last !== undefined; ) {
        last = this.#visit(textsIn(this.#byRow.bytes(prefix, last)), visitStored)?.row;
      }
    for (const record of waitingRecords(prefix, waiting)) visit(record);
  }

  /** Visits a page of records; returns its last row when others may follow. */
  #visit(rows: readonly SummedText[], visit: (record: StoredRecord) => void): SummedText | undefined {
    for (const { key, text: value, isWhole } of rows) {
      if (isWhole) visit({ key, value });
      else this.#damaged(key);
    }
    return rows.length < PAGE_ROWS ? undefined : rows.at(-1);
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

function waitingRecords(prefix: string, waiting: JournalRecords): StoredRecord[] {
  return [...waiting].flatMap(([key, value]) => (value !== null && key.startsWith(prefix) ? { key, value } : []));
}

/** The order of SQLite. */
function byBytes(a: StoredRecord, b: StoredRecord): number {
  return Buffer.compare(Buffer.from(a.key), Buffer.from(b.key));
}
