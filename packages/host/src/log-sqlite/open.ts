/**
 * Opens the database of a data folder: takes the lock, checks before the first read that the file belongs to Atrium and
 * is whole, has it repaired if not, and reports the repairs.
 */
import { chmodSync, existsSync, renameSync, statSync } from 'node:fs';
import path from 'node:path';
import { LogLockedError, LogOpenError, type LogRepair, REBUILT_RECORD, salvagedText } from '@atrium/core/log/log.js';
import type { Logger } from '@atrium/core/util/logger.js';
import { newSalt } from './commit-journal.js';
import { type Database, SQLITE, type SqliteDriver, SqliteError } from './driver.js';
import { DATABASE_FILE, type FolderLock, holderOf, JOURNAL_FILE, prepareFolder, takeLock } from './folder.js';
import { applyJournal } from './journal-recovery.js';
import { copyFrom, installFresh, nameAside, type RepairContext, repairDatabase, resumeRepair } from './repair.js';
import {
  APPLICATION_ID,
  headerOf,
  IN_USE_VERSION,
  MODEL_03_VERSION,
  migrate,
  PAGE_BYTES,
  SCHEMA_VERSION,
  skipNumbers,
  withDatabase,
} from './schema.js';
import { backUp, CACHE_KIB, upcast } from './upcast.js';
import { checkWal, type WalState } from './wal-check.js';

/**
 * SQLite's check covers only the structure; a damaged page with nothing but text shows up as invalid JSON. Only `exec`
 * may be used here, which returns no rows (see the driver), so a constraint that accepts no row reports the damage.
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

const RESTARTED =
  'the machine stopped while it was open, so the newest entries may be missing; numbering goes on well above them';

interface OpenFileOptions {
  readonly dataDir: string;
  readonly driver: SqliteDriver;
  readonly logger: Logger;
  readonly now: number;
}

export interface OpenedFile {
  readonly path: string;
  readonly db: Database;
  readonly repairs: readonly LogRepair[];
  /** Where to create the journal, and the salt that the database holds for its lines. */
  readonly journal: { readonly path: string; readonly salt: string };
  /** See `FolderLock`. */
  renewLock(): 'held' | 'renewed' | 'lost';
  /** `journal`: whether a journal stays behind that the database has not taken. */
  close(left?: { readonly journal: boolean }): void;
}

export function openFile({ dataDir, driver, logger, now }: OpenFileOptions): OpenedFile {
  prepareFolder(dataDir);
  const database = path.join(dataDir, DATABASE_FILE);
  const lock = explained(dataDir, () => takeLock(dataDir, driver));
  try {
    return explained(database, () => {
      const repairs = makeWhole({ driver, database, now }, lock);
      if (isOfOlderModel(database)) keepBackup({ driver, database, logger });
      const { db, found, journal } = openForUse({ driver, database, logger, now }, lock);
      lock.settle();
      const close: OpenedFile['close'] = (left) => closeFile({ db, database, lock, isInUse: left?.journal === true });
      const all = [...withCounts(repairs, db), ...found];
      return { path: database, db, repairs: all, journal, renewLock: () => lock.renew(), close };
    });
  } catch (error) {
    lock.releaseUnchanged();
    throw error;
  }
}

function makeWhole(context: RepairContext, lock: FolderLock): LogRepair[] {
  const { database } = context;
  const resumed = resumeRepair(context);
  const repairs = resumed === undefined ? [] : [resumed];
  if (!existsSync(database)) return [...repairs, ...begin(context)];
  checkOurs(database);
  chmodSync(database, 0o600);
  if (wasClosedInOrder(database, lock)) return repairs;
  // SQLite deletes a write-ahead file beside an empty database. Commits that it would drop from a damaged write-ahead
  // file are moved aside first: see `inspectDatabase`.
  const isSafe = statSync(database).size > 0 && checkWal(`${database}-wal`).at === 'whole';
  if (isSafe) refuseBesideAnother(context, lock);
  return [...repairs, ...inspectDatabase(context, lock.machineRestarted)];
}

/** SQLite would read a write-ahead file without its database as that of the new one. */
function begin(context: RepairContext): LogRepair[] {
  const stray = `${context.database}-wal`;
  const repairs: LogRepair[] = [];
  if (existsSync(stray)) {
    const keptAt = nameAside(stray, context.now);
    renameSync(stray, keptAt);
    repairs.push({ message: `${stray} stood alone, without its database: a new log was begun`, keptAt });
  }
  installFresh(context);
  return repairs;
}

/** The check reads the whole file. A file that was closed in order and has not changed since needs none. */
function wasClosedInOrder(database: string, { previous }: FolderLock): boolean {
  if (previous?.at !== 'closed' || existsSync(`${database}-wal`)) return false;
  return previous.stamp === stampOf(database);
}

/** Refuses a folder that another host uses. Ignores damage, which the inspection finds and reports. */
function refuseBesideAnother({ driver, database }: RepairContext, lock: FolderLock): void {
  withDatabase(driver, database, (db) => {
    try {
      checkAlone(db, database, lock);
    } catch (error) {
      if (error instanceof LogLockedError) throw error;
    }
  });
}

/**
 * A running host keeps a shared lock on the database, and leaving write-ahead mode takes an exclusive one. So this
 * fails while another host runs, even if its lock file was deleted.
 */
function checkAlone(db: Database, database: string, { previous }: FolderLock): void {
  try {
    db.exec('PRAGMA journal_mode = DELETE');
  } catch (error) {
    if (!(error instanceof SqliteError) || error.code !== SQLITE.busy) throw error;
    const holder = holderOf(previous);
    // A connection of this process that libsql has not released yet does not count as another host: this process holds
    // the lock file.
    if (holder !== process.pid) throw new LogLockedError(path.dirname(database), holder);
  }
}

/** A rebuilt file records how much was saved. */
function withCounts(repairs: readonly LogRepair[], db: Database): readonly LogRepair[] {
  if (repairs.length === 0) return repairs;
  const value = `SELECT ${db.text('value')} AS value FROM records WHERE key = '${REBUILT_RECORD}'`;
  const row = db.prepare<{ value: string }>(value).get();
  if (row === undefined) return repairs;
  return repairs.map((repair) =>
    repair.isRebuilt ? { ...repair, message: `${repair.message}; ${salvagedText(row.value)}` } : repair,
  );
}

interface UseOptions extends Pick<OpenFileOptions, 'driver' | 'logger' | 'now'> {
  readonly database: string;
}

function keepBackup({ driver, database, logger }: Omit<UseOptions, 'now'>): void {
  withDatabase(driver, database, (db) => {
    if (!foldIntoOneFile(db)) db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  });
  const backup = backUp(database);
  logger.log('info', 'the stored sessions are of an older model; a copy of them is kept', { backup });
}

/** `found`: damage that showed up in the journal, or while the log was moved to the present model. */
function openForUse({ driver, database, logger, now }: UseOptions, lock: FolderLock) {
  const db = driver.open(database);
  const journal = { path: path.join(path.dirname(database), JOURNAL_FILE), salt: newSalt() };
  let found: LogRepair[] = [];
  try {
    checkAlone(db, database, lock);
    // The file is not in write-ahead mode here, so SQLite undoes a large transaction that was cut off, without a trace.
    db.exec(`PRAGMA synchronous = FULL; PRAGMA cache_size = -${CACHE_KIB.upcast}`);
    migrate(db, () => {
      found = upcast({ db, path: database, logger, now });
    });
    found = [...found, ...applyJournal({ db, journal, now })];
  } catch (error) {
    db.close();
    throw error;
  }
  // `Checkpoints` decides when to run a checkpoint.
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0');
  db.exec(`PRAGMA cache_size = -${CACHE_KIB.usual}`);
  return { db, found, journal };
}

interface CloseOptions {
  readonly db: Database;
  readonly database: string;
  readonly lock: FolderLock;
  /** Whether a journal stays beside the database. */
  readonly isInUse: boolean;
}

/** Leaves a single file that contains everything. */
function closeFile({ db, database, lock, isInUse }: CloseOptions): void {
  const inOrder = foldIntoOneFile(db) && !isInUse && markClosed(db);
  db.close();
  lock.release(inOrder ? { at: 'closed', stamp: stampOf(database) } : undefined);
}

/**
 * Hosts that do not know the journal may open the file from now on. If a power cut undoes that, they still refuse it.
 */
function markClosed(db: Database): boolean {
  try {
    db.exec(`PRAGMA synchronous = OFF; PRAGMA user_version = ${SCHEMA_VERSION}`);
    return true;
  } catch {
    return false;
  }
}

/**
 * Leaving write-ahead mode moves everything into the database file and deletes the write-ahead file. It also disarms a
 * connection that libsql releases late: in write-ahead mode, that connection would delete the write-ahead file of the
 * next process by its name.
 */
function foldIntoOneFile(db: Database): boolean {
  try {
    db.exec('PRAGMA journal_mode = DELETE');
    return true;
  } catch {
    // For example, because the disk is full. The next opening finds the write-ahead file and continues with it.
    return false;
  }
}

/** Adds the name of the file and a remedy to errors of SQLite and of the file system. */
function explained<T>(target: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof LogOpenError || error instanceof LogLockedError || !(error instanceof Error)) throw error;
    const { code } = error as NodeJS.ErrnoException | SqliteError;
    if (code === undefined) throw error;
    if (code === 'ENOSPC' || code === SQLITE.full) {
      throw new LogOpenError('disk-full', `${target} cannot be opened: the disk is full; make room`, { cause: error });
    }
    const remedy = 'check the disk and the permissions, or choose another data folder';
    throw new LogOpenError('failed', `${target} cannot be opened: ${error.message}; ${remedy}`, { cause: error });
  }
}

/** The size and time of the file: while both stay the same, nothing has written to it. */
function stampOf(database: string): string {
  const { size, mtimeNs } = statSync(database, { bigint: true });
  return `${size} ${mtimeNs}`;
}

/** Refuses a file of another program or of a later version. Accepts a file that is too damaged to tell. */
function checkOurs(database: string): void {
  const header = headerOf(database);
  if (!header) return;
  if (header.applicationId !== APPLICATION_ID) {
    throw new LogOpenError('foreign', `${database} belongs to another program: choose another data folder`);
  }
  if (header.version > IN_USE_VERSION) {
    throw new LogOpenError('newer', `${database} was written by a later version: update this program`);
  }
}

function isOfOlderModel(database: string): boolean {
  return (headerOf(database)?.version ?? SCHEMA_VERSION) <= MODEL_03_VERSION;
}

/** Reads and checks the whole file. Afterwards SQLite has also taken over the content of the write-ahead file. */
function inspectDatabase(context: RepairContext, machineRestarted: boolean): LogRepair[] {
  const { database } = context;
  const repairs: LogRepair[] = [];
  const wal = checkWal(`${database}-wal`);
  if (wal.at !== 'whole') repairs.push(keepTail(context, wal));
  const damage = checkLength(database) ?? check(context, machineRestarted || wal.at === 'damaged');
  if (damage !== undefined) repairs.push(repairDatabase(context, damage));
  else if (machineRestarted) repairs.push({ message: `${database}: ${RESTARTED}` });
  return repairs;
}

/**
 * A file that ends inside a page is cut off. SQLite reads the missing end as zeros, and its check ignores the text of
 * rows.
 */
function checkLength(database: string): string | undefined {
  const { size } = statSync(database);
  if (size === 0) return 'was empty';
  const isCut = size % PAGE_BYTES !== 0 && !existsSync(`${database}-wal`);
  return isCut ? 'was damaged (it ended inside a page)' : undefined;
}

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

/** Only damage allows a rebuild. Errors of the disk or of a lock say nothing about the file. */
function damageIn(error: unknown): string | undefined {
  if (!(error instanceof SqliteError)) return undefined;
  if (error.code === SQLITE.corrupt || error.code === SQLITE.notADatabase) return error.message;
  return error.code === SQLITE.constraint ? 'its check failed' : undefined;
}

type TornWal = Exclude<WalState, { at: 'whole' }>;

/** Keeps the end of the write-ahead file, which SQLite ignores and later overwrites. */
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
