/**
 * The data folder: created for its owner only, refused when it contains links or special files, and locked for one
 * process. The lock is SQLite's own lock on an empty file: the system releases it with the process, so a dead holder,
 * or a process that reuses its id, never blocks the next start. A note beside it names the holder, and tells the next
 * host how the last one ended. Deleting the lock file does not unlock the folder: the database itself shows that it is
 * in use (see `open.ts`).
 */
import {
  accessSync,
  closeSync,
  constants,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { uptime } from 'node:os';
import path from 'node:path';
import { LogLockedError, LogOpenError } from '@atrium/core/log/log.js';
import { makeFolderSync } from '@atrium/core/util/folders.js';
import { SQLITE, type SqliteDriver, SqliteError } from './driver.js';
import { DATABASE_PARTS } from './schema.js';

const BOOT_ID_FILE = '/proc/sys/kernel/random/boot_id';
const LOCK_FILE = 'atrium.lock';
const NOTE_FILE = 'atrium.owner';
/** Two computations of the same boot time may differ by this many seconds. */
const BOOT_TOLERANCE_S = 60;
export const DATABASE_FILE = 'atrium.db';
export const JOURNAL_FILE = 'atrium.journal';

export function prepareFolder(dataDir: string): void {
  makeDataFolder(dataDir);
  if (!statSync(dataDir).isDirectory()) {
    throw new LogOpenError('not-a-folder', `${dataDir} is not a folder: choose another data folder`);
  }
  checkAccess(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  for (const name of [...DATABASE_PARTS.map((part) => DATABASE_FILE + part), JOURNAL_FILE, LOCK_FILE, NOTE_FILE]) {
    checkFile(path.join(dataDir, name));
  }
}

function makeDataFolder(dataDir: string): void {
  try {
    makeFolderSync(dataDir, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
    throw notWritable(dataDir, error);
  }
}

function checkFile(file: string): void {
  const stats = lstatIfExists(file);
  if (stats === undefined) return;
  if (stats.isSymbolicLink()) {
    const remedy = 'put the file itself there, or choose the folder it is in as the data folder';
    throw new LogOpenError('symlink', `${file} is a symbolic link to ${readlinkSync(file)}: ${remedy}`);
  }
  if (!stats.isFile()) throw new LogOpenError('not-a-file', `${file} is not a regular file: move it away`);
  checkAccess(file, constants.R_OK | constants.W_OK);
}

function lstatIfExists(file: string): Stats | undefined {
  return lstatSync(file, { throwIfNoEntry: false });
}

function checkAccess(target: string, mode: number): void {
  try {
    accessSync(target, mode);
  } catch (error) {
    throw notWritable(target, error);
  }
}

function notWritable(target: string, cause: unknown): LogOpenError {
  const { code = 'unknown error' } = cause as NodeJS.ErrnoException;
  const remedy = 'give this user write access to it, or choose another data folder';
  return new LogOpenError('not-writable', `${target} cannot be written (${code}): ${remedy}`, { cause });
}

/** How the last holder left the folder. */
type OwnerNote =
  /**
   * In use, or the holder died. `boot` identifies the run of the machine in which the database was last known to be
   * whole.
   */
  | { readonly at: 'open'; readonly pid: number; readonly boot: string }
  /** Closed in order; `stamp` describes the database file at that moment. */
  | { readonly at: 'closed'; readonly stamp: string };

export interface FolderLock {
  readonly previous: OwnerNote | undefined;
  /** The last holder died together with the machine, so unsynced data may be lost. */
  readonly machineRestarted: boolean;
  /** Records that the database is whole from now on. */
  settle(): void;
  /**
   * Checks the lock. If the lock file was deleted, locks the folder again, unless another process has locked a new file
   * first (`lost`).
   */
  renew(): 'held' | 'renewed' | 'lost';
  release(note?: OwnerNote): void;
  /** Releases the folder unchanged. */
  releaseUnchanged(): void;
}

export function takeLock(dataDir: string, driver: SqliteDriver): FolderLock {
  const file = path.join(dataDir, NOTE_FILE);
  let locked = lockFile(dataDir, driver);
  const previous = readNote(file);
  const boot = currentBoot();
  const machineRestarted = previous?.at === 'open' && !sameBoot(previous.boot, boot);
  const claim = (since: string): void => tryToWrite(file, { at: 'open', pid: process.pid, boot: since }, 'synced');
  claim(previous?.at === 'open' ? previous.boot : boot);
  return {
    previous,
    machineRestarted,
    settle() {
      if (machineRestarted) claim(boot);
    },
    renew() {
      if (locked.isInPlace()) return 'held';
      try {
        const again = lockFile(dataDir, driver);
        locked.close();
        locked = again;
        claim(boot);
        return 'renewed';
      } catch {
        return 'lost';
      }
    },
    release(note) {
      if (note !== undefined) tryToWrite(file, note, 'unsynced');
      locked.close();
    },
    releaseUnchanged() {
      if (previous === undefined) rmSync(file, { force: true });
      else tryToWrite(file, previous, 'unsynced');
      locked.close();
    },
  };
}

/**
 * If writing fails, as on a full disk, the old note stays and the next opening only checks more than it must. The note
 * that the folder is in use must be on disk before anything else, or a power cut would go unnoticed.
 */
function tryToWrite(file: string, note: OwnerNote, durability: 'synced' | 'unsynced'): void {
  const fresh = `${file}.new`;
  try {
    writeFileSync(fresh, `${JSON.stringify(note)}\n`, { mode: 0o600 });
    if (durability === 'synced') syncFile(fresh);
    renameSync(fresh, file);
    if (durability === 'synced') syncFolder(path.dirname(file));
  } catch {
    rmSync(fresh, { force: true });
  }
}

interface LockedFile {
  /** Whether the file that we locked is still at its path. */
  isInPlace(): boolean;
  close(): void;
}

function lockFile(dataDir: string, driver: SqliteDriver): LockedFile {
  const file = path.join(dataDir, LOCK_FILE);
  createEmpty(file);
  const db = driver.open(file);
  try {
    db.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    if (error instanceof SqliteError && error.code === SQLITE.busy) throw lockedError(dataDir);
    throw error;
  }
  const { ino } = statSync(file);
  return {
    isInPlace: () => statSync(file, { throwIfNoEntry: false })?.ino === ino,
    close: () => db.close(),
  };
}

/** Never opens an existing file: closing it would release a lock that this process holds. */
function createEmpty(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function lockedError(dataDir: string): LogLockedError {
  const note = readNote(path.join(dataDir, NOTE_FILE));
  return new LogLockedError(dataDir, holderOf(note));
}

/** The process that has the folder open, or died while it had it open. */
export function holderOf(note: OwnerNote | undefined): number | undefined {
  return note?.at === 'open' ? note.pid : undefined;
}

/** Reads the note; without a readable one, the whole database is checked. */
function readNote(file: string): OwnerNote | undefined {
  try {
    const note = JSON.parse(readFileSync(file, 'utf8')) as Partial<Record<string, unknown>> | null;
    if (note?.at === 'closed' && typeof note.stamp === 'string') return { at: 'closed', stamp: note.stamp };
    if (note?.at !== 'open' || typeof note.pid !== 'number' || typeof note.boot !== 'string') return undefined;
    return { at: 'open', pid: note.pid, boot: note.boot };
  } catch {
    return undefined;
  }
}

/** Identifies the run of the machine: Linux has an id for each boot; elsewhere the boot time serves. */
export function currentBoot(idFile = BOOT_ID_FILE): string {
  try {
    return readFileSync(idFile, 'utf8').trim();
  } catch {
    return String(Math.round(Date.now() / 1_000 - uptime()));
  }
}

export function sameBoot(a: string, b: string): boolean {
  return a === b || Math.abs(Number(a) - Number(b)) < BOOT_TOLERANCE_S;
}

/** Makes what was written or renamed survive a power cut. */
export function syncFile(path: string): void {
  sync(path, 'r+');
}

/** A rename changes the folder, so the folder is synced, too. Windows has no such call, and needs none. */
export function syncFolder(folder: string): void {
  if (process.platform !== 'win32') sync(folder, 'r');
}

function sync(path: string, flags: string): void {
  const handle = openSync(path, flags);
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
