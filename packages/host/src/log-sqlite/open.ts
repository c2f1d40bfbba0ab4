/** Opens the database of a data folder: takes the lock, has mended what is broken, and says what was mended. */
import { chmodSync, existsSync, renameSync, statSync } from 'node:fs';
import path from 'node:path';
import { LogLockedError, LogOpenError, type LogRepair, REBUILT_RECORD, salvagedText } from '../core/log/log.js';
import { type Database, SQLITE, type SqliteDriver, SqliteError } from './driver.js';
import { DATABASE_FILE, type FolderLock, holderOf, prepareFolder, takeLock } from './folder.js';
import { checkOurs, inspectDatabase, stampOf } from './inspect.js';
import { installFresh, nameAside, type RepairContext, resumeRepair } from './repair.js';
import { migrate, withDatabase } from './schema.js';
import { checkWal } from './wal-check.js';

export interface OpenFileOptions {
  readonly dataDir: string;
  readonly driver: SqliteDriver;
  readonly now: number;
}

export interface OpenedFile {
  readonly path: string;
  readonly db: Database;
  readonly repairs: readonly LogRepair[];
  /** See `FolderLock`. */
  renewLock(): 'held' | 'renewed' | 'lost';
  close(): void;
}

export function openFile({ dataDir, driver, now }: OpenFileOptions): OpenedFile {
  prepareFolder(dataDir);
  const database = path.join(dataDir, DATABASE_FILE);
  const lock = explained(dataDir, () => takeLock(dataDir, driver));
  try {
    return explained(database, () => {
      const repairs = makeWhole({ driver, database, now }, lock);
      const db = openForUse(driver, database, lock);
      lock.settle();
      const close = () => closeFile(db, database, lock);
      return { path: database, db, repairs: withCounts(repairs, db), renewLock: () => lock.renew(), close };
    });
  } catch (error) {
    lock.leaveAsFound();
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
  // SQLite deletes a write-ahead file beside an empty database. What it would leave out of a torn one is put aside first:
  // see `inspectDatabase`.
  const isSafe = statSync(database).size > 0 && checkWal(`${database}-wal`).at === 'whole';
  if (isSafe) refuseBesideAnother(context, lock);
  return [...repairs, ...inspectDatabase(context, lock.machineRestarted)];
}

/** A write-ahead file without its database would be taken for the new one's. */
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

/** Checking reads the whole file; one that is just as it was closed needs none. */
function wasClosedInOrder(database: string, { previous }: FolderLock): boolean {
  if (previous?.at !== 'closed' || existsSync(`${database}-wal`)) return false;
  return previous.stamp === stampOf(database);
}

/** Damage is not the question here: it is found, and named, by the inspection. */
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
 * A host keeps a shared lock on the database for as long as it runs, and leaving write-ahead mode takes an exclusive
 * one. So this fails while another host runs, also when its lock file was deleted.
 */
function checkAlone(db: Database, database: string, { previous }: FolderLock): void {
  try {
    db.exec('PRAGMA journal_mode = DELETE');
  } catch (error) {
    if (!(error instanceof SqliteError) || error.code !== SQLITE.busy) throw error;
    const holder = holderOf(previous);
    // A connection of this very process, which libsql lets go of late, is no other host: the lock file says so.
    if (holder !== process.pid) throw new LogLockedError(path.dirname(database), holder);
  }
}

/** A file that was rebuilt says itself what was saved. */
function withCounts(repairs: readonly LogRepair[], db: Database): readonly LogRepair[] {
  if (repairs.length === 0) return repairs;
  const value = `SELECT ${db.text('value')} AS value FROM records WHERE key = '${REBUILT_RECORD}'`;
  const row = db.prepare<{ value: string }>(value).get();
  if (row === undefined) return repairs;
  return repairs.map((repair) =>
    repair.isRebuilt ? { ...repair, message: `${repair.message}; ${salvagedText(row.value)}` } : repair,
  );
}

function openForUse(driver: SqliteDriver, database: string, lock: FolderLock): Database {
  const db = driver.open(database);
  try {
    checkAlone(db, database, lock);
  } catch (error) {
    db.close();
    throw error;
  }
  // Checkpoints are ours to time: see checkpoints.
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0');
  migrate(db);
  return db;
}

/** Leaves one file, with everything in it. */
function closeFile(db: Database, database: string, lock: FolderLock): void {
  const inOrder = foldIntoOneFile(db);
  db.close();
  lock.release(inOrder ? { at: 'closed', stamp: stampOf(database) } : undefined);
}

/**
 * Leaving write-ahead mode moves everything into the database file and deletes the other. It also disarms a connection
 * that libsql lets go of late: in write-ahead mode that would delete, by name, the write-ahead file of a successor.
 */
function foldIntoOneFile(db: Database): boolean {
  try {
    db.exec('PRAGMA journal_mode = DELETE');
    return true;
  } catch {
    // A full disk, say. The next opening finds the write-ahead file and goes on with it.
    return false;
  }
}

/** Errors of SQLite and of the file system get the name of the file and a remedy. */
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
