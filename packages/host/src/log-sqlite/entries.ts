/** The table of entries: appended in order, read by number or by channel, dropped from the old end. */
import { duplicateOrigin } from '@atrium/core/log/check-commit.js';
import type { EntryOrigin, LogEntry, NewEntry, ReadRange } from '@atrium/core/log/log.js';
import { type NumberRange, NumberSet } from '@atrium/core/util/number-set.js';
import { toStore } from './commit-journal.js';
import { type Damage, fits, sumOf } from './damage.js';
import { type Database, SQLITE, SqliteError, type SqlValue, type Statement } from './driver.js';

const ALL = -1;
/** Rows that one statement inserts; more would hardly be cheaper. */
const GROUP_ROWS = 32;

interface EntryRow {
  readonly seq: number;
  readonly channel: string;
  readonly time: number;
  readonly action: string;
  readonly clientId: string | null;
  readonly epoch: number;
  readonly clientSeq: number;
  readonly sum: number | null;
}

interface Bounds {
  readonly first: number | null;
  readonly last: number | null;
  readonly dropped: number | null;
  readonly skipped: number | null;
}

export class EntryTable {
  readonly #marks: ClientMarks;
  readonly #insert: Statement<never>;
  readonly #insertGroup: Statement<never>;
  readonly #read: Statement<EntryRow>;
  readonly #readChannel: Statement<EntryRow>;
  readonly #bounds: Statement<Bounds>;
  readonly #blank: Statement<never>;
  readonly #disown: Statement<never>;
  readonly #clientSeqs: Statement<{ clientSeq: number }>;
  readonly #firstNeeded: Statement<{ seq: number | null }>;
  readonly #drop: Statement<never>;
  readonly #setDropped: Statement<never>;
  readonly #bytes: Statement<{ hex: string }>;
  readonly #empty: Statement<never>;
  readonly #damage: Damage;

  constructor(db: Database, damage: Damage) {
    this.#damage = damage;
    const columns = `seq, ${db.text('channel')} AS channel, time, ${db.text('action')} AS action,
      ${db.text('client_id')} AS clientId, epoch, client_seq AS clientSeq, sum`;
    this.#marks = new ClientMarks(db);
    this.#insert = db.prepare('INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
    const group = Array(GROUP_ROWS).fill('(?, ?, ?, ?, ?)').join(', ');
    this.#insertGroup = db.prepare(`INSERT INTO entries (seq, channel, time, action, sum) VALUES ${group}`);
    this.#read = db.prepare(`SELECT ${columns} FROM entries WHERE seq > ? ORDER BY seq LIMIT ?`);
    this.#readChannel = db.prepare(`SELECT ${columns} FROM entries WHERE seq > ? AND channel = ? ORDER BY seq LIMIT ?`);
    this.#bounds = db.prepare(`
      SELECT (SELECT min(seq) FROM entries) AS first, (SELECT max(seq) FROM entries) AS last,
        (SELECT dropped FROM compaction) AS dropped, (SELECT max(upto) FROM skips) AS skipped`);
    this.#blank = db.prepare(`UPDATE entries SET channel = '', action = '', sum = NULL WHERE channel = ?`);
    this.#disown = db.prepare(
      'UPDATE entries SET client_id = NULL, epoch = NULL, client_seq = NULL WHERE client_id = ?',
    );
    this.#clientSeqs = db.prepare(
      'SELECT client_seq AS clientSeq FROM entries WHERE client_id = ? AND epoch = ? AND client_seq >= ?',
    );
    this.#firstNeeded = db.prepare(`
      SELECT min(entries.seq) AS seq FROM entries LEFT JOIN archives USING (channel)
      WHERE entries.seq <= ? AND channel <> '' AND (archives.seq IS NULL OR archives.seq < entries.seq)`);
    this.#drop = db.prepare('DELETE FROM entries WHERE seq <= ?');
    this.#bytes = db.prepare('SELECT hex(action) AS hex FROM entries WHERE seq = ?');
    this.#empty = db.prepare(`UPDATE entries SET action = '', sum = NULL WHERE seq = ?`);
    this.#setDropped = db.prepare('UPDATE compaction SET dropped = max(dropped, ?)');
  }

  /**
   * `oldest` is never below a skip: entries before it may be lost, so a replay must not start there. `endsInSkip`: the
   * head is a number that was given up, and no entry follows it yet.
   */
  bounds(): { head: number; oldest: number; endsInSkip: boolean } {
    const bounds = this.#bounds.get();
    const skipped = bounds?.skipped ?? 0;
    const last = Math.max(bounds?.last ?? 0, bounds?.dropped ?? 0);
    const head = Math.max(last, skipped);
    return { head, oldest: Math.max(bounds?.first ?? head + 1, skipped + 1), endsInSkip: skipped > last };
  }

  add(seq: number, entry: NewEntry): void {
    const { time, origin } = entry;
    const { channel, action } = toStore(entry);
    const sum = entrySum(seq, channel, action);
    if (origin === undefined) return void this.#insert.run(seq, channel, time, action, null, null, null, sum);
    if (this.#marks.has(origin)) throw duplicateOrigin(origin);
    try {
      const { clientId, epoch, clientSeq } = origin;
      this.#insert.run(seq, channel, time, action, clientId, epoch, clientSeq, sum);
    } catch (error) {
      throw isConstraint(error) ? duplicateOrigin(origin, { cause: error }) : error;
    }
  }

  /**
   * Adds entries with consecutive numbers. Entries of the host are added in groups, which costs half as much as one by
   * one.
   */
  addAll(first: number, entries: readonly NewEntry[]): void {
    const ofHost: number[] = [];
    for (const [at, entry] of entries.entries()) {
      if (entry.origin) this.add(first + at, entry);
      else ofHost.push(at);
    }
    const grouped = ofHost.length - (ofHost.length % GROUP_ROWS);
    for (let at = 0; at < grouped; at += GROUP_ROWS) {
      const values: SqlValue[] = [];
      for (const index of ofHost.slice(at, at + GROUP_ROWS)) {
        const entry = entries[index];
        if (!entry) continue;
        const seq = first + index;
        const { channel, action } = toStore(entry);
        values.push(seq, channel, entry.time, action, entrySum(seq, channel, action));
      }
      this.#insertGroup.run(...values);
    }
    for (const index of ofHost.slice(grouped)) {
      const entry = entries[index];
      if (entry) this.add(first + index, entry);
    }
  }

  read({ after, channel, limit = ALL }: ReadRange): LogEntry[] {
    const rows = channel === undefined ? this.#read.all(after, limit) : this.#readChannel.all(after, channel, limit);
    return rows.map((row) => (isWhole(row) ? toEntry(row) : this.#damaged(row)));
  }

  /** Keeps the number of the entry, and marks its action as unreadable. */
  #damaged(row: EntryRow): LogEntry {
    const { seq, channel } = row;
    if (row.action !== '') {
      const what = `the action ${seq} of ${channel}`;
      this.#damage.found({ what, instead: 'it was left out', hex: this.#bytes.get(seq)?.hex ?? '' });
      this.#damage.repair(() => this.#empty.run(seq));
    }
    return { ...toEntry(row), action: '', isDamaged: true };
  }

  clientSeqs(clientId: string, epoch: number, from: number): number[] {
    const stored = this.#clientSeqs.all(clientId, epoch, from).map((row) => row.clientSeq);
    return [...this.#marks.from({ clientId, epoch }, from), ...stored].sort((a, b) => a - b);
  }

  /** The last number that may be dropped: opening a channel needs no entry up to it. */
  lastDroppable(cut: number): number {
    const needed = this.#firstNeeded.get(cut)?.seq;
    return typeof needed === 'number' ? needed - 1 : cut;
  }

  drop(upTo: number): void {
    this.#marks.remember(upTo);
    this.#drop.run(upTo);
    this.#setDropped.run(upTo);
  }

  /** Erases the actions of a channel; their numbers and clients stay. */
  blank(channel: string): void {
    this.#blank.run(channel);
  }

  /** Erases the origin of a client's entries; their actions stay. */
  disown(clientId: string): void {
    this.#disown.run(clientId);
    this.#marks.forget(clientId);
  }
}

export function entrySum(seq: number, channel: string, action: string): number {
  return sumOf(entryPlace(seq, channel), action);
}

function entryPlace(seq: number, channel: string): string {
  return `${seq} ${channel}`;
}

/** An entry of a channel always has an action, so an empty one was damaged. Entries without a channel have none. */
function isWhole({ seq, channel, action, sum }: EntryRow): boolean {
  return action === '' ? channel === '' : fits(sum, entryPlace(seq, channel), action);
}

function toEntry({ seq, channel, time, action, clientId, epoch, clientSeq }: EntryRow): LogEntry {
  if (clientId === null) return { seq, channel, time, action };
  return { seq, channel, time, action, origin: { clientId, epoch, clientSeq } };
}

function isConstraint(error: unknown): boolean {
  return error instanceof SqliteError && error.code === SQLITE.constraint;
}

/** Remembers which numbers of a client belonged to entries that were dropped. */
type Client = Pick<EntryOrigin, 'clientId' | 'epoch'>;

interface DroppedRow extends Client {
  /** The client's numbers as a JSON array. */
  readonly seqs: string;
}

class ClientMarks {
  readonly #get: Statement<{ ranges: string }>;
  readonly #put: Statement<never>;
  readonly #forgetEpochs: Statement<never>;
  readonly #forget: Statement<never>;
  readonly #dropped: Statement<DroppedRow>;
  /** False for a log that was never compacted, as most are: its appends need no lookup. */
  #any: boolean;

  constructor(db: Database) {
    this.#get = db.prepare(`SELECT ${db.text('ranges')} AS ranges FROM client_marks WHERE client_id = ? AND epoch = ?`);
    this.#put = db.prepare('INSERT OR REPLACE INTO client_marks VALUES (?, ?, ?)');
    this.#forgetEpochs = db.prepare('DELETE FROM client_marks WHERE client_id = ? AND epoch < ?');
    this.#forget = db.prepare('DELETE FROM client_marks WHERE client_id = ?');
    this.#dropped = db.prepare(`
      SELECT ${db.text('client_id')} AS clientId, epoch, json_group_array(client_seq) AS seqs FROM entries
      WHERE seq <= ? AND client_id IS NOT NULL GROUP BY client_id, epoch`);
    this.#any = db.prepare('SELECT 1 FROM client_marks LIMIT 1').get() !== undefined;
  }

  has(origin: EntryOrigin): boolean {
    return this.#any && this.#numbersOf(origin).has(origin.clientSeq);
  }

  from(client: Client, from: number): number[] {
    return this.#any ? this.#numbersOf(client).from(from) : [];
  }

  /** Call it before dropping the entries up to this number, in the same transaction. */
  remember(upTo: number): void {
    for (const { clientId, epoch, seqs } of this.#dropped.all(upTo)) {
      const numbers = this.#numbersOf({ clientId, epoch });
      for (const number of JSON.parse(seqs) as number[]) numbers.add(number);
      this.#put.run(clientId, epoch, JSON.stringify(numbers.ranges));
      // A client that starts over does not continue its earlier numbers.
      this.#forgetEpochs.run(clientId, epoch);
      this.#any = true;
    }
  }

  forget(clientId: string): void {
    this.#forget.run(clientId);
  }

  #numbersOf({ clientId, epoch }: Client): NumberSet {
    const row = this.#get.get(clientId, epoch);
    return new NumberSet(row === undefined ? [] : (JSON.parse(row.ranges) as NumberRange[]));
  }
}
