/** The records: small facts by key, listed by prefix. */

import { REBUILT_RECORD, type StoredRecord } from '@atrium/core/log/log.js';
import type { JournalRecords } from './commit-journal.js';
import { type Damage, fits, sumOf } from './damage.js';
import type { Database, Statement } from './driver.js';
import { type SummedText, selectTexts, textsIn } from './summed-texts.js';

/** Rows per query. */
const PAGE_ROWS = 500;

const NONE: JournalRecords = new Map();

/** The range ends at the greatest code point. A plain LIKE would not use the index. */
const UNDER_PREFIX = 'key >= ?1 AND key < ?1 || char(0x10ffff)';

interface Visiting {
  /** Changes that the database does not have yet. */
  readonly waiting?: JournalRecords;
  /** Gets the keys of records that cannot be read. */
  readonly damaged?: ((key: string) => void) | undefined;
}

export class RecordTable {
  readonly #db: Database;
  readonly #put: Statement<never>;
  readonly #remove: Statement<never>;
  readonly #get: Statement<{ value: string; sum: number | null }>;
  readonly #bytes: Statement<{ hex: string }>;
  readonly #byKey: Statement<never>;
  readonly #byRow: Statement<never>;
  /** Has a row when there is a whole page of records, or more. */
  readonly #areMany: Statement<unknown>;
  readonly #count: Statement<{ count: number }>;
  readonly #keys: Statement<never>;
  readonly #keysUnlike: Statement<never>;
  readonly #some: Statement<never>;
  readonly #damage: Damage;

  constructor(db: Database, damage: Damage) {
    this.#db = db;
    this.#damage = damage;
    this.#put = db.prepare('INSERT OR REPLACE INTO records VALUES (?, ?, ?)');
    this.#bytes = db.prepare('SELECT hex(value) AS hex FROM records WHERE key = ?');
    this.#remove = db.prepare('DELETE FROM records WHERE key = ?');
    this.#get = db.prepare(`SELECT ${db.text('value')} AS value, sum FROM records WHERE key = ?`);
    const rows = `SELECT rowid AS row, key, value AS text, sum FROM records WHERE ${UNDER_PREFIX}`;
    this.#byKey = db.prepare(selectTexts(`${rows} AND key > ?2 ORDER BY key LIMIT ${PAGE_ROWS}`));
    this.#byRow = db.prepare(selectTexts(`${rows} AND rowid > ?2 ORDER BY rowid LIMIT ${PAGE_ROWS}`));
    this.#areMany = db.prepare(`SELECT 1 FROM records WHERE ${UNDER_PREFIX} LIMIT 1 OFFSET ${PAGE_ROWS - 1}`);
    this.#count = db.prepare(`SELECT count(*) AS count FROM records WHERE ${UNDER_PREFIX}`);
    const keys = 'SELECT CAST(json_group_array(key) AS BLOB) AS bytes FROM records';
    this.#keys = db.prepare(`${keys} WHERE ${UNDER_PREFIX}`);
    // In file order: in key order, nearly every row would need a search for its page.
    const unlike = 'substr(CAST(value AS BLOB), ?2) <> CAST(?3 AS BLOB)';
    this.#keysUnlike = db.prepare(`${keys} NOT INDEXED WHERE ${UNDER_PREFIX} AND ${unlike}`);
    this.#some = db.prepare(
      selectTexts(
        'SELECT rowid AS row, key, value AS text, sum FROM records WHERE key IN (SELECT value FROM json_each(?1))',
      ),
    );
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

  /** In the order of their keys. `waiting` holds changes that the database does not have yet. */
  list(prefix: string, waiting: JournalRecords = NONE): StoredRecord[] {
    const stored: StoredRecord[] = [];
    for (let last: string | undefined = ''; last !== undefined; ) {
      last = this.#visit(textsIn(this.#byKey.bytes(prefix, last)), (record) => stored.push(record))?.key;
    }
    const added = waitingRecords(prefix, waiting);
    const records = [...stored.filter(({ key }) => !waiting.has(key)), ...added];
    return added.length === 0 ? records : records.sort(byBytes);
  }

  /** In any order. More than one page of records is read in file order, so that no row needs a search. */
  each(prefix: string, visit: (record: StoredRecord) => void, { waiting = NONE, damaged }: Visiting = {}): void {
    const visitStored = (record: StoredRecord) => {
      if (!waiting.has(record.key)) visit(record);
    };
    const tellDamaged = (key: string) => {
      if (!waiting.has(key)) damaged?.(key);
    };
    const visitPage = (bytes: Buffer) => this.#visit(textsIn(bytes), visitStored, tellDamaged);
    if (this.#areMany.get(prefix) === undefined) visitPage(this.#byKey.bytes(prefix, ''));
    else
      for (let last: number | undefined = 0; last !== undefined; ) {
        last = visitPage(this.#byRow.bytes(prefix, last))?.row;
      }
    for (const record of waitingRecords(prefix, waiting)) visit(record);
  }

  /** See `RecordsAtHand`. */
  count(prefix: string, waiting: JournalRecords): number {
    if (waiting.size > 0) return this.keys(prefix, waiting).length;
    return this.#count.get(prefix)?.count ?? 0;
  }

  /** See `RecordsAtHand`. */
  keys(prefix: string, waiting: JournalRecords): string[] {
    return [...keysIn(this.#keys.bytes(prefix), waiting), ...waitingRecords(prefix, waiting).map(({ key }) => key)];
  }

  /** See `RecordsAtHand`. */
  keysUnlike(prefix: string, end: string, waiting: JournalRecords): string[] {
    const stored = keysIn(this.#keysUnlike.bytes(prefix, -Buffer.byteLength(end), end), waiting);
    const added = waitingRecords(prefix, waiting).filter(({ value }) => !value.endsWith(end));
    return [...stored, ...added.map(({ key }) => key)];
  }

  /** See `RecordsAtHand`. */
  read(keys: readonly string[], waiting: JournalRecords): StoredRecord[] {
    const records: StoredRecord[] = [];
    const stored = JSON.stringify(keys.filter((key) => !waiting.has(key)));
    this.#visit(textsIn(this.#some.bytes(stored)), (record) => records.push(record));
    for (const key of keys) {
      const value = waiting.get(key);
      if (typeof value === 'string') records.push({ key, value });
    }
    return records;
  }

  /** See `RecordsAtHand`. A text that is not JSON is damaged; the reader of that record reports it. */
  glance(prefix: string, paths: readonly string[], visit: (key: string, found: readonly unknown[]) => void): void {
    const places = paths.map((_, index) => `?${index + 2}`).join(', ');
    // For a single path SQLite returns its value; for several, a list.
    const selected =
      paths.length === 1 ? `json_array(json_extract(value, ${places}))` : `json_extract(value, ${places})`;
    const found = `CASE WHEN json_valid(value) THEN json_array(key, ${selected}) ELSE json_array(key, json('[]')) END`;
    const rows = this.#db.prepare<never>(
      `SELECT CAST('[' || group_concat(${found}) || ']' AS BLOB) AS bytes FROM records NOT INDEXED WHERE ${UNDER_PREFIX}`,
    );
    const bytes = rows.bytes(prefix, ...paths);
    const all = JSON.parse(bytes.length === 0 ? '[]' : bytes.toString()) as [string, unknown[]][];
    for (const [key, values] of all) visit(key, values);
  }

  /** Visits a page of records; returns its last row if more may follow. */
  #visit(
    rows: readonly SummedText[],
    visit: (record: StoredRecord) => void,
    damaged?: (key: string) => void,
  ): SummedText | undefined {
    for (const { key, text: value, isWhole } of rows) {
      if (isWhole) visit({ key, value });
      else {
        this.#damaged(key);
        damaged?.(key);
      }
    }
    return rows.length < PAGE_ROWS ? undefined : rows.at(-1);
  }

  /** Removes the damaged record. The session's archive contains the same facts, and the host reads them there. */
  #damaged(key: string): undefined {
    const hex = this.#bytes.get(key)?.hex ?? '';
    this.#damage.found({ what: `the record ${key}`, instead: 'it was left out', hex });
    this.#damage.repair(() => {
      this.put(key, null);
      if (this.get(REBUILT_RECORD) === undefined) this.put(REBUILT_RECORD, '{}');
    });
  }
}

/** Those keys of a list that `waiting` does not change. */
function keysIn(bytes: Buffer, waiting: JournalRecords): string[] {
  const keys = JSON.parse(bytes.toString()) as string[];
  return waiting.size === 0 ? keys : keys.filter((key) => !waiting.has(key));
}

function waitingRecords(prefix: string, waiting: JournalRecords): StoredRecord[] {
  return [...waiting].flatMap(([key, value]) => (value !== null && key.startsWith(prefix) ? { key, value } : []));
}

/** Compares keys as SQLite does. */
function byBytes(a: StoredRecord, b: StoredRecord): number {
  return Buffer.compare(Buffer.from(a.key), Buffer.from(b.key));
}
