/** Handles a journal that a host left behind: moves its lines into the database, or keeps its bytes in a file aside. */
import { rmSync } from 'node:fs';
import type { LogRepair } from '@atrium/core/log/log.js';
import { type FoundJournal, readJournal } from './commit-journal.js';
import { sumOf } from './damage.js';
import type { Database } from './driver.js';
import { entrySum } from './entries.js';
import { copyFrom, nameAside } from './repair.js';
import { addLaterTables, hasAllTables, IN_USE_VERSION, skipNumbers } from './schema.js';

interface JournalOptions {
  readonly db: Database;
  /** The salt is a new one, for the lines to come. */
  readonly journal: { readonly path: string; readonly salt: string };
  readonly now: number;
}

type Verdict =
  /** The database has already taken the lines. */
  | 'known'
  | 'continues'
  /** The lines are of this database, but do not begin where it ends. */
  | 'gap'
  | 'foreign';

/**
 * Takes the lines that a killed host left in its journal, marks the database as in use, and gives it a new salt, in one
 * transaction. The bytes that it does not take are copied before the commit, and the file is removed after it: if the
 * host is killed in between, the database recognises the lines of the file by their salt.
 */
export function applyJournal({ db, journal, now }: JournalOptions): LogRepair[] {
  const { path, salt } = journal;
  const found = readJournal(path);
  if (!found && hasAllTables(db)) db.exec(UNSYNCED);
  const repairs = db.transaction(() => {
    addLaterTables(db);
    const repair = found && applyLines({ db, path, now, found });
    db.prepare('UPDATE journal SET salt = ?, folded = ?').run(salt, found?.salt ?? '');
    db.exec(`PRAGMA user_version = ${IN_USE_VERSION}`);
    return repair ? [repair] : [];
  });
  db.exec('PRAGMA synchronous = FULL');
  rmSync(path, { force: true });
  return repairs;
}

/**
 * Nearly always only the salt and the version in the header change, each within one page, and any mix of old and new is
 * valid. A sync here would be half of the syncs of an opening.
 */
const UNSYNCED = 'PRAGMA synchronous = OFF';

interface ApplyOptions {
  readonly db: Database;
  readonly path: string;
  readonly now: number;
  readonly found: FoundJournal;
}

function applyLines({ db, path, now, found }: ApplyOptions): LogRepair | undefined {
  const verdict = judge(db, found);
  if (verdict === 'continues') {
    insertEntries(db, found);
    putRecords(db, found);
  }
  if (mayHaveLost(found, verdict)) skipNumbers(db, now);
  return keepRest({ path, now, found, verdict });
}

/** Whether a client may have seen numbers that the database lacks. */
function mayHaveLost({ end }: FoundJournal, verdict: Verdict): boolean {
  if (verdict === 'continues') return end === 'damaged';
  return verdict === 'gap' || verdict === 'foreign';
}

function judge(db: Database, { salt, first, end }: FoundJournal): Verdict {
  // A first line that was cut off belongs to a commit that was never acknowledged.
  if (salt === undefined) return end === 'unfinished' ? 'continues' : 'foreign';
  const row = (column: string) => `${db.text(column)} AS ${column}`;
  const known = db
    .prepare<{ salt: string; folded: string }>(`SELECT ${row('salt')}, ${row('folded')} FROM journal`)
    .get();
  if (salt === known?.folded) return 'known';
  if (salt !== known?.salt) return 'foreign';
  return first === undefined || first === endOf(db).last + 1 ? 'continues' : 'gap';
}

interface End {
  /** The last number that the database has, or has dropped. */
  readonly last: number;
  /** The last number that was given up. */
  readonly skipped: number;
}

function endOf(db: Database): End {
  const row = db
    .prepare<End>(
      `SELECT max(coalesce((SELECT max(seq) FROM entries), 0), coalesce((SELECT dropped FROM compaction), 0)) AS last,
        coalesce((SELECT max(upto) FROM skips), 0) AS skipped`,
    )
    .get();
  return row ?? { last: 0, skipped: 0 };
}

/**
 * Inserts the entries before the numbers that this opening gave up because the machine stopped or the database was
 * rebuilt.
 */
function insertEntries(db: Database, { entries }: FoundJournal): void {
  const { last, skipped } = endOf(db);
  const insert = db.prepare('INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
  for (const { seq, channel, time, action, origin } of entries) {
    const client = [origin?.clientId ?? null, origin?.epoch ?? null, origin?.clientSeq ?? null];
    insert.run(seq, channel, time, action, ...client, entrySum(seq, channel, action));
  }
  const end = entries.at(-1)?.seq ?? last;
  if (end > last && end < skipped) db.prepare('UPDATE skips SET after = ? WHERE upto = ?').run(end, skipped);
}

function putRecords(db: Database, { records }: FoundJournal): void {
  const put = db.prepare('INSERT OR REPLACE INTO records VALUES (?, ?, ?)');
  const remove = db.prepare('DELETE FROM records WHERE key = ?');
  for (const [key, value] of records) {
    if (value === null) remove.run(key);
    else put.run(key, value, sumOf(key, value));
  }
}

interface KeepOptions {
  readonly path: string;
  readonly now: number;
  readonly found: FoundJournal;
  readonly verdict: Verdict;
}

/** Copies the bytes that the database does not take, and reports why. */
function keepRest({ path, now, found, verdict }: KeepOptions): LogRepair | undefined {
  const reason = reasonFor(verdict, found.end);
  if (reason === undefined) return undefined;
  const keptAt = nameAside(path, now);
  copyFrom(path, verdict === 'continues' ? found.bytes : 0, keptAt);
  return { message: `${path} ${reason}`, keptAt };
}

function reasonFor(verdict: Verdict, end: FoundJournal['end']): string | undefined {
  const above = 'numbering goes on well above them';
  if (verdict === 'foreign') return `is not of this database, or not readable: its commits were left out; ${above}`;
  if (verdict === 'gap') return `does not continue the database: its commits were left out; ${above}`;
  if (verdict === 'known' || end === 'whole') return undefined;
  if (end === 'damaged') return `was damaged: the commits from there on are lost; ${above}`;
  return 'ended inside a commit, which was never acknowledged: it was left out';
}
