/** Finds out whether a database is ours and whole, before anything is read from it, and has it mended if not. */
import { closeSync, existsSync, openSync, readSync, rmSync, statSync, writeSync } from 'node:fs';
import { LogOpenError, type LogRepair } from '../core/log/log.js';
import { SQLITE, SqliteError } from './driver.js';
import { nameAside, type RepairContext, repairDatabase } from './repair.js';
import { APPLICATION_ID, PAGE_BYTES, SCHEMA_VERSION, skipNumbers, withDatabase } from './schema.js';
import { checkWal, type WalState } from './wal-check.js';

const MAGIC = 'SQLite format 3\0';
const HEADER_BYTES = 100;

/**
 * SQLite's check looks at the structure only; a damaged page that holds nothing but text shows in the JSON. Only `exec`
 * may be used here, which returns no rows (see the driver): a constraint that accepts no row reports what is damaged.
 */
const CHECK_ALL = `
  PRAGMA temp_store = MEMORY;
  CREATE TEMP TABLE damage (found TEXT CONSTRAINT the_check_found_nothing CHECK (false));
  INSERT INTO damage SELECT quick_check FROM pragma_quick_check WHERE quick_check <> 'ok';
  INSERT INTO damage SELECT seq FROM entries WHERE action <> '' AND NOT json_valid(action);
  INSERT INTO damage SELECT channel FROM archives WHERE NOT json_valid(head);
  INSERT INTO damage SELECT id FROM turns WHERE NOT json_valid(json);
  INSERT INTO damage SELECT key FROM records WHERE NOT json_valid(value);
  DROP TABLE damage`;

/** What a file looks like from outside; the same again means that nobody has touched it. */
export function stampOf(database: string): string {
  const { size, mtimeNs } = statSync(database, { bigint: true });
  return `${size} ${mtimeNs}`;
}

/** Refuses a file that is somebody else's, or of a later version. One that is damaged beyond telling passes. */
export function checkOurs(database: string): void {
  const header = Buffer.alloc(HEADER_BYTES);
  const file = openSync(database, 'r');
  const read = readSync(file, header, 0, HEADER_BYTES, 0);
  closeSync(file);
  if (read < HEADER_BYTES || header.toString('latin1', 0, MAGIC.length) !== MAGIC) return;
  if (header.readUInt32BE(68) !== APPLICATION_ID) {
    throw new LogOpenError('foreign', `${database} belongs to another program: choose another data folder`);
  }
  if (header.readUInt32BE(60) > SCHEMA_VERSION) {
    throw new LogOpenError('newer', `${database} was written by a later version: update this program`);
  }
}

/** Reads the whole file once. With the check done, SQLite has also taken over what the write-ahead file held. */
export function inspectDatabase(context: RepairContext, machineRestarted: boolean): LogRepair[] {
  const { database } = context;
  const repairs: LogRepair[] = [];
  const wal = checkWal(`${database}-wal`);
  if (wal.at !== 'whole') repairs.push(keepTail(context, wal));
  const damage = checkLength(database) ?? check(context, machineRestarted || wal.at === 'damaged');
  if (damage !== undefined) repairs.push(repairDatabase(context, damage));
  else if (machineRestarted) repairs.push({ message: `${database}: ${RESTARTED}` });
  return repairs;
}

/** SQLite reads the missing end of the last page as zeros, and its check does not look at the text of rows. */
function checkLength(database: string): string | undefined {
  const { size } = statSync(database);
  if (size === 0) return 'was empty';
  const isCut = size % PAGE_BYTES !== 0 && !existsSync(`${database}-wal`);
  return isCut ? 'was damaged (it ended inside a page)' : undefined;
}

const RESTARTED =
  'the machine stopped while it was open, so the newest entries may be missing; numbering goes on well above them';

function check({ driver, database, now }: RepairContext, mayHaveLost: boolean): string | undefined {
  try {
    withDatabase(driver, database, (db) => {
      db.exec(CHECK_ALL);
      if (mayHaveLost) skipNumbers(db, now);
    });
    return undefined;
  } catch (error) {
    const damage = damageIn(error);
    if (damage === undefined) throw error;
    return `was damaged (${damage})`;
  }
}

/** Other errors, of the disk or of a lock, say nothing about the file: it must not be rebuilt because of them. */
function damageIn(error: unknown): string | undefined {
  if (!(error instanceof SqliteError)) return undefined;
  if (error.code === SQLITE.corrupt || error.code === SQLITE.notADatabase) return error.message;
  return error.code === SQLITE.constraint ? 'its check failed' : undefined;
}

type TornWal = Exclude<WalState, { at: 'whole' }>;

/** SQLite passes over these bytes, and later writes over them. */
function keepTail({ database, now }: RepairContext, { at, from }: TornWal): LogRepair {
  const wal = `${database}-wal`;
  const keptAt = nameAside(wal, now);
  copyFrom(wal, from, keptAt);
  const message =
    at === 'unfinished'
      ? `${wal} ended inside a commit, which was never acknowledged: it was left out`
      : `${wal} was damaged: commits from byte ${from} on are lost; numbering goes on well above them`;
  return { message, keptAt };
}

const COPY_BYTES = 2 ** 20;

function copyFrom(source: string, start: number, target: string): void {
  const from = openSync(source, 'r');
  const to = openSync(target, 'wx', 0o600);
  try {
    const block = Buffer.alloc(COPY_BYTES);
    for (let at = start, read = 1; read > 0; at += read) {
      read = readSync(from, block, 0, COPY_BYTES, at);
      writeSync(to, block, 0, read);
    }
  } catch (error) {
    // Nothing is lost: the source is as it was, and the next opening tries again.
    rmSync(target, { force: true });
    throw error;
  } finally {
    closeSync(from);
    closeSync(to);
  }
}
