/** One write to the database: a transaction, as durable as asked for, with errors that say what to do. */
import { LogWriteError, type LogWriteReason } from '../core/log/errors.js';
import type { Commit } from '../core/log/log.js';
import { type Database, SQLITE, SqliteError } from './driver.js';

export interface WriteOptions {
  readonly db: Database;
  readonly path: string;
  readonly durability: Commit['durability'];
}

/** Everything that the work writes is stored, or nothing of it. */
export function writeDurably({ db, path, durability }: WriteOptions, work: () => void): void {
  try {
    if (durability === 'full') withFullSync(db, work);
    else db.transaction(work);
  } catch (error) {
    throw error instanceof SqliteError ? writeError(error, path) : error;
  }
}

/**
 * `FULL` syncs the write-ahead file at this commit, and with it all earlier ones. Measured: setting the pragma and
 * setting it back costs 5 µs, the sync itself 300 to 600 µs; a checkpoint would sync two files, and a second
 * connection that is always `FULL` would have to be kept from writing at the same time.
 */
function withFullSync(db: Database, work: () => void): void {
  db.exec('PRAGMA synchronous = FULL');
  try {
    db.transaction(work);
  } finally {
    db.exec('PRAGMA synchronous = NORMAL');
  }
}

/** How much a commit writes: rows, and the characters in them. */
export function sizeOf({ entries, archives = [], records = [] }: Commit): [rows: number, characters: number] {
  let rows = entries.length + archives.length + records.length;
  let characters = 0;
  for (const entry of entries) characters += entry.action.length;
  for (const record of records) characters += record.value?.length ?? 0;
  for (const { head, turns } of archives) {
    rows += turns.items.length;
    characters += head.length;
    for (const turn of turns.items) characters += turn.json.length;
  }
  return [rows, characters];
}

const WRITE_ERRORS: Readonly<Record<number, readonly [LogWriteReason, string]>> = {
  [SQLITE.full]: ['disk-full', 'the disk is full: make room; nothing was stored'],
  [SQLITE.readOnly]: ['failed', 'the file cannot be written: check its permissions; nothing was stored'],
  [SQLITE.corrupt]: ['damaged', 'the file is damaged: restart the host, which repairs it; nothing was stored'],
};

function writeError(error: SqliteError, path: string): LogWriteError {
  const [reason, remedy] = WRITE_ERRORS[error.code] ?? ['failed', `${error.message}; nothing was stored`];
  return new LogWriteError(reason, `${path}: ${remedy}`, { cause: error });
}
