/**
 * Moves a damaged database aside and rebuilds it: every readable row goes into a fresh file. A crash may interrupt it
 * anywhere: a marker file records the repair under way, and the next opening continues it. Damaged bytes are moved,
 * never deleted.
 */
import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { type LogRepair, REBUILT_RECORD } from '@atrium/core/log/log.js';
import { damagedTurn } from './damage.js';
import { type Database, SQLITE, type SqliteDriver, SqliteError } from './driver.js';
import { syncFile, syncFolder } from './folder.js';
import {
  APPLICATION_ID,
  addLaterTables,
  createDatabase,
  DATABASE_PARTS,
  fillDatabase,
  headerOf,
  MODEL_03_VERSION,
  PAGE_BYTES,
  skipNumbers,
} from './schema.js';

const LAST_ROW = Number.MAX_SAFE_INTEGER;
/** After this many unreadable row ranges, bad ranges are no longer divided. Each attempt costs about 30 µs. */
const FAILURES_MAX = 2_000;
/** How many lost turns of one channel get a placeholder each. */
const MARKED_TURNS_MAX = 10_000;

/** Bytes that are copied at once. */
const COPY_BYTES = 2 ** 20;

export interface RepairContext {
  readonly driver: SqliteDriver;
  readonly database: string;
  readonly now: number;
}

/** A free name beside the damaged file. */
export function nameAside(file: string, now: number): string {
  const time = new Date(now).toISOString().replaceAll(/[-:.]/g, '');
  for (let count = 1; ; count++) {
    const name = `${file}.corrupt-${time}${count === 1 ? '' : `-${count}`}`;
    if (!existsSync(name)) return name;
  }
}

/** Copies the end of a file to a new file. */
export function copyFrom(source: string, start: number, target: string): void {
  const from = openSync(source, 'r');
  const to = openSync(target, 'wx', 0o600);
  try {
    const block = Buffer.alloc(COPY_BYTES);
    for (let at = start, read = 1; read > 0; at += read) {
      read = readSync(from, block, 0, COPY_BYTES, at);
      // A nearly full disk takes only a part, and refuses the rest at the next attempt.
      for (let written = 0; written < read; ) written += writeSync(to, block, written, read - written);
    }
  } catch (error) {
    // Nothing is lost: the source is unchanged, and the next opening tries again.
    rmSync(target, { force: true });
    throw error;
  } finally {
    closeSync(from);
    closeSync(to);
  }
}

export function repairDatabase(context: RepairContext, reason: string): LogRepair {
  const keptAt = nameAside(context.database, context.now);
  writeFileSync(markerOf(context.database), path.basename(keptAt), { mode: 0o600 });
  syncFile(markerOf(context.database));
  carryOut(context, keptAt);
  return {
    message: `${context.database} ${reason}: it was rebuilt from every row that could be read`,
    keptAt,
    isRebuilt: true,
  };
}

export function resumeRepair(context: RepairContext): LogRepair | undefined {
  const marker = markerOf(context.database);
  if (!existsSync(marker)) return undefined;
  const name = readFileSync(marker, 'utf8');
  const folder = path.dirname(context.database);
  if (!name.startsWith(`${path.basename(context.database)}.corrupt-`) || name !== path.basename(name)) {
    // The marker itself was cut off, so nothing had been moved yet.
    rmSync(marker);
    return undefined;
  }
  const keptAt = path.join(folder, name);
  carryOut(context, keptAt);
  return {
    message: `${context.database} was being repaired when the host stopped: the repair is done now`,
    keptAt,
    isRebuilt: true,
  };
}

/** A database in its final place is complete, because it is built under another name. */
export function installFresh({ driver, database }: RepairContext): void {
  createDatabase(driver, `${database}.new`);
  fillDatabase(driver, `${database}.new`, addLaterTables);
  install(database);
}

function carryOut({ driver, database, now }: RepairContext, keptAt: string): void {
  moveAside(database, keptAt);
  if (!existsSync(database)) {
    salvage({ driver, from: keptAt, to: `${database}.new`, now });
    install(database);
  }
  rmSync(markerOf(database));
}

/** Moves the database file last: as long as it is in its old place, the move is incomplete. */
function moveAside(database: string, keptAt: string): void {
  if (existsSync(keptAt)) return;
  for (const part of DATABASE_PARTS) {
    if (existsSync(database + part)) renameSync(database + part, keptAt + part);
  }
  syncFolder(path.dirname(database));
}

function install(database: string): void {
  syncFile(`${database}.new`);
  renameSync(`${database}.new`, database);
  syncFolder(path.dirname(database));
}

function markerOf(database: string): string {
  return `${database}.repairing`;
}

interface SalvageOptions {
  readonly driver: SqliteDriver;
  /** The damaged file, which stays unchanged. */
  readonly from: string;
  /** The file to create; an existing one is overwritten. */
  readonly to: string;
  readonly now: number;
}

/** Copies every readable row of a damaged database into a fresh one. Works on a copy. */
function salvage({ driver, from, to, now }: SalvageOptions): void {
  const copy = `${to}.copy`;
  removeDatabase(copy);
  copyFileSync(from, copy);
  if (existsSync(`${from}-wal`)) copyFileSync(`${from}-wal`, `${copy}-wal`);
  createDatabase(driver, to);
  if (statSync(copy).size < PAGE_BYTES) graftFirstPage(copy, to);
  if (!copyRows(driver, copy, to)) {
    graftFirstPage(copy, to);
    copyRows(driver, copy, to);
  }
  const header = headerOf(from);
  fillDatabase(driver, to, (db) => {
    cutAtGap(db);
    skipNumbers(db, now);
    const isOurs = header?.applicationId === APPLICATION_ID;
    const isOld = isOurs ? header.version <= MODEL_03_VERSION : hasOldModel(db);
    if (isOld) db.exec(`PRAGMA user_version = ${MODEL_03_VERSION}`);
  });
  removeDatabase(copy);
}

/** Whether the rows are of the 0.3.0 model; a constraint that accepts no row reports it. */
function hasOldModel(db: Database): boolean {
  db.exec('CREATE TEMP TABLE old (found INTEGER CHECK (false))');
  const isNew =
    attempt(db, `INSERT INTO old SELECT 1 FROM turns WHERE json_type(json, '$.userMessage') = 'object'`) &&
    attempt(db, `INSERT INTO old SELECT 1 FROM records WHERE json_type(value, '$.summary.createdAt') = 'integer'`) &&
    attempt(db, `INSERT INTO old SELECT 1 FROM archives WHERE json_type(head, '$.summary.createdAt') = 'integer'`);
  db.exec('DROP TABLE old');
  return !isNew;
}

function removeDatabase(path: string): void {
  for (const part of DATABASE_PARTS) rmSync(path + part, { force: true });
}

/** False when even the list of tables is unreadable. */
function copyRows(driver: SqliteDriver, from: string, to: string): boolean {
  let readable = true;
  fillDatabase(driver, to, (db) => {
    readable = attempt(db, `ATTACH '${from.replaceAll("'", "''")}' AS bad`) && readsTables(db);
    if (readable) copyTables(db);
  });
  return readable;
}

/** With a writable schema, SQLite opens a file that is shorter than its header claims. */
function readsTables(db: Database): boolean {
  db.exec('PRAGMA writable_schema = ON');
  return attempt(db, 'SELECT 1 FROM bad.entries LIMIT 0');
}

function copyTables(db: Database): void {
  copyTable(db, 'bad.skips', (rows) => `INSERT OR REPLACE INTO skips SELECT * FROM ${rows}`);
  addLaterTables(db);
  attempt(db, 'INSERT OR REPLACE INTO journal SELECT * FROM bad.journal');
  db.exec('DELETE FROM compaction');
  copyTable(db, 'bad.compaction', (rows) => `INSERT OR REPLACE INTO compaction SELECT * FROM ${rows}`);
  copyTable(
    db,
    'bad.client_marks',
    (rows) => `INSERT OR IGNORE INTO client_marks SELECT * FROM ${rows} AND json_valid(ranges)`,
  );
  const sums = addedColumn(db, 'sum');
  const counts = addedColumn(db, 'turn_count');
  copyTable(
    db,
    'bad.records',
    (rows) => `INSERT OR IGNORE INTO records SELECT key, value, ${sums} FROM ${rows} AND json_valid(value)`,
  );
  copyTable(
    db,
    'bad.archives',
    (rows) =>
      `INSERT OR IGNORE INTO archives SELECT channel, seq, head, ${sums}, ${counts} FROM ${rows} AND json_valid(head)`,
  );
  copyTurns(db, sums);
  // Entries after a lost one may mean something else without it.
  const entries = (rows: string): string =>
    `INSERT OR IGNORE INTO entries SELECT seq, channel, time, action, client_id, epoch, client_seq, ${sums}
      FROM ${rows} AND (action = '' OR json_valid(action))`;
  copyTable(db, 'bad.entries', entries, { stopAtDamage: true });
}

/** A file of an earlier version does not have this column. */
function addedColumn(db: Database, column: 'sum' | 'turn_count'): string {
  return attempt(db, `SELECT ${column} FROM bad.archives LIMIT 0`) ? column : 'NULL';
}

/** Puts a placeholder where each lost turn was. If too many are lost, later turns move up instead. */
function copyTurns(db: Database, sums: string): void {
  db.exec('CREATE TEMP TABLE kept_turns (channel, idx, id, json, sum)');
  const insert = (rows: string) =>
    `INSERT INTO kept_turns SELECT channel, idx, id, json, ${sums} FROM ${rows} AND json_valid(json)`;
  copyTable(db, 'bad.turns', insert);
  db.exec(`
    CREATE TEMP TABLE turn_counts AS
    SELECT channel, coalesce(kept, 0) AS kept, max(coalesce(turn_count, 0), coalesce(last + 1, 0)) AS expected
    FROM (SELECT channel FROM archives UNION SELECT channel FROM kept_turns)
      LEFT JOIN archives USING (channel)
      LEFT JOIN (SELECT channel, count(*) AS kept, max(idx) AS last FROM kept_turns GROUP BY channel) USING (channel);

    WITH RECURSIVE places (channel, idx, expected) AS (
      SELECT channel, 0, expected FROM turn_counts
      WHERE expected > kept AND expected - kept <= ${MARKED_TURNS_MAX}
      UNION ALL SELECT channel, idx + 1, expected FROM places WHERE idx + 1 < expected
    )
    INSERT INTO kept_turns
    SELECT channel, idx, 'damaged-' || idx, json_set('${damagedTurn('').replaceAll("'", "''")}', '$.id', 'damaged-' || idx), NULL
    FROM places WHERE NOT EXISTS (
      SELECT 1 FROM kept_turns WHERE kept_turns.channel = places.channel AND kept_turns.idx = places.idx
    );

    INSERT INTO turns
    SELECT channel, row_number() OVER (PARTITION BY channel ORDER BY idx) - 1, id, json, sum FROM kept_turns;
    DROP TABLE kept_turns;

    INSERT OR REPLACE INTO records
    SELECT '${REBUILT_RECORD}', json_object(
      'channels', coalesce(sum(kept > 0), 0), 'channelsLost', coalesce(sum(kept = 0 AND expected > 0), 0),
      'turns', coalesce(sum(kept), 0), 'turnsLost', coalesce(sum(expected - kept), 0)
    ), NULL FROM turn_counts;
    DROP TABLE turn_counts`);
}

interface CopyOptions {
  readonly stopAtDamage?: boolean;
}

/** Tries all rows at once, and halves the range when that fails, until the unreadable rows are isolated. */
function copyTable(db: Database, table: string, insert: (rows: string) => string, options: CopyOptions = {}): void {
  const pending: [first: number, last: number][] = [[0, LAST_ROW]];
  let failures = 0;
  for (let range = pending.pop(); range !== undefined; range = pending.pop()) {
    const [first, last] = range;
    if (attempt(db, insert(`${table} NOT INDEXED WHERE rowid BETWEEN ${first} AND ${last}`))) continue;
    failures++;
    if (first < last && failures < FAILURES_MAX) {
      const middle = first + Math.floor((last - first) / 2);
      pending.push([middle + 1, last], [first, middle]);
    } else if (options.stopAtDamage) return;
  }
}

/** Every failure except a full disk means that something was unreadable. */
function attempt(db: Database, sql: string): boolean {
  try {
    db.exec(sql);
    return true;
  } catch (error) {
    if (error instanceof SqliteError && error.code !== SQLITE.full) return false;
    throw error;
  }
}

/** The numbers must begin where compaction or a skip ended, and only a skip may interrupt them. */
function cutAtGap(db: Database): void {
  db.exec(`
    INSERT OR IGNORE INTO compaction SELECT 1, coalesce(min(seq) - 1, 0) FROM entries;
    DELETE FROM entries WHERE (SELECT min(seq) - 1 FROM entries) NOT IN (
      SELECT dropped FROM compaction UNION SELECT upto FROM skips
    );
    DELETE FROM entries WHERE seq > (
      SELECT min(seq) FROM entries AS entry
      WHERE NOT EXISTS (SELECT 1 FROM entries WHERE seq = entry.seq + 1)
        AND NOT EXISTS (SELECT 1 FROM skips WHERE after = entry.seq)
    )`);
}

/**
 * The first page says where the tables begin, and in all our files they begin at the same pages. If that page is lost,
 * it is replaced by that of a fresh file, with the length of this file.
 */
function graftFirstPage(path: string, fresh: string): void {
  const page = Buffer.alloc(PAGE_BYTES);
  const source = openSync(fresh, 'r');
  readSync(source, page, 0, PAGE_BYTES, 0);
  closeSync(source);
  const writeAheadMode = existsSync(`${path}-wal`) ? 2 : 1;
  page.writeUInt8(writeAheadMode, 18);
  page.writeUInt8(writeAheadMode, 19);
  page.writeUInt32BE(Math.max(1, Math.ceil(statSync(path).size / PAGE_BYTES)), 28);
  const target = openSync(path, 'r+');
  writeSync(target, page, 0, PAGE_BYTES, 0);
  closeSync(target);
}
