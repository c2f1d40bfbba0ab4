/**
 * The embedded log: one SQLite file in the data folder. One commit is one transaction. It knows entries, archives and
 * records as text; where the file comes from, and what had to be mended, is the business of `sqlite/open.ts`.
 *
 * What can be lost: nothing when the process dies. When the machine loses power, commits of durability `normal` since
 * the last `full` one or checkpoint; never part of a commit, and never a `full` one.
 */
import type { Clock } from '../clock.js';
import { systemClock } from '../clock.js';
import { type Logger, silentLogger } from '../logger.js';
import { checkCommit } from './check-commit.js';
import { closedError, LogWriteError, type LogWriteReason } from './errors.js';
import { Followers } from './followers.js';
import type { ArchivedTurn, ArchiveHead, Commit, Log, LogEntry, LogRepair, ReadRange, TurnRange } from './log.js';
import { ArchiveTable } from './sqlite/archives.js';
import { Checkpoints } from './sqlite/checkpoints.js';
import { type Database, loadDriver, SQLITE, type SqliteDriver, SqliteError } from './sqlite/driver.js';
import { EntryTable } from './sqlite/entries.js';
import { type OpenedFile, openFile } from './sqlite/open.js';
import { RecordTable } from './sqlite/records.js';

/** Entries dropped in one transaction; the event loop turns in between. */
export const COMPACT_BATCH_ENTRIES = 2_000;

export interface SqliteLogOptions {
  /** The folder of `atrium.db`; made, for its owner only, when it is not there. */
  readonly dataDir: string;
  readonly clock?: Clock;
  readonly logger?: Logger;
  readonly driver?: SqliteDriver;
}

/** Throws `LogLockedError` when another process has the folder, `LogOpenError` when it cannot be used as it is. */
export async function openSqliteLog(options: SqliteLogOptions): Promise<SqliteLog> {
  const { dataDir, clock = systemClock, logger = silentLogger } = options;
  const driver = options.driver ?? (await loadDriver());
  const file = openFile({ dataDir, driver, now: clock.now() });
  return new SqliteLog({ file, clock, logger });
}

export class SqliteLog implements Log {
  readonly repairs: readonly LogRepair[];
  readonly #file: OpenedFile;
  readonly #entries: EntryTable;
  readonly #archives: ArchiveTable;
  readonly #records: RecordTable;
  readonly #checkpoints: Checkpoints;
  readonly #followers: Followers;
  #head: number;
  #oldest: number;
  #closed = false;

  constructor(options: { readonly file: OpenedFile; readonly clock: Clock; readonly logger: Logger }) {
    const { file, clock, logger } = options;
    this.#file = file;
    this.repairs = file.repairs;
    this.#entries = new EntryTable(file.db);
    this.#archives = new ArchiveTable(file.db);
    this.#records = new RecordTable(file.db);
    this.#checkpoints = new Checkpoints({ db: file.db, clock, logger });
    this.#followers = new Followers({ read: (after, limit) => this.#entries.read({ after, limit }), logger });
    ({ head: this.#head, oldest: this.#oldest } = this.#entries.bounds());
  }

  get head(): number {
    return this.#head;
  }

  get oldest(): number {
    return this.#oldest;
  }

  async append(commit: Commit): Promise<void> {
    this.#checkOpen();
    checkCommit(commit, this.#head);
    this.#write(() => this.#store(commit), commit.durability);
    this.#head += commit.entries.length;
    this.#checkpoints.wrote(...sizeOf(commit));
    this.#followers.publish(commit.entries);
  }

  async read(range: ReadRange): Promise<LogEntry[]> {
    this.#checkOpen();
    return this.#entries.read(range);
  }

  follow(after: number, listener: (entry: LogEntry) => void): () => void {
    this.#checkOpen();
    return this.#followers.follow(after, listener);
  }

  async archiveHead(channel: string): Promise<ArchiveHead | undefined> {
    this.#checkOpen();
    return this.#archives.head(channel);
  }

  async archivedTurns(channel: string, range: TurnRange): Promise<ArchivedTurn[]> {
    this.#checkOpen();
    return this.#archives.turns(channel, range);
  }

  async archivedTurnsText(channel: string, range: TurnRange): Promise<string> {
    this.#checkOpen();
    return this.#archives.turnsText(channel, range);
  }

  async findTurn(channel: string, turnId: string): Promise<number | undefined> {
    this.#checkOpen();
    return this.#archives.findTurn(channel, turnId);
  }

  async copyTurns(from: string, to: string, end: number): Promise<void> {
    this.#checkOpen();
    this.#write(() => this.#archives.copyTurns(from, to, end));
  }

  async record(key: string): Promise<string | undefined> {
    this.#checkOpen();
    return this.#records.get(key);
  }

  async records(prefix: string): Promise<{ key: string; value: string }[]> {
    this.#checkOpen();
    return this.#records.list(prefix);
  }

  async clientSeqs(clientId: string, epoch: number, from: number): Promise<number[]> {
    this.#checkOpen();
    return this.#entries.clientSeqs(clientId, epoch, from);
  }

  async compact({ upTo, keep }: { readonly upTo: number; readonly keep: number }): Promise<void> {
    this.#checkOpen();
    const last = this.#entries.lastDroppable(Math.min(upTo, this.#head - keep));
    for (let done = this.#oldest - 1; done < last && !this.#closed; ) {
      done = Math.min(done + COMPACT_BATCH_ENTRIES, last);
      this.#write(() => this.#entries.drop(done));
      this.#oldest = this.#entries.bounds().oldest;
      await new Promise(setImmediate);
    }
  }

  async forget(channel: string): Promise<void> {
    this.#checkOpen();
    this.#write(() => {
      this.#archives.remove(channel);
      this.#entries.blank(channel);
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#checkpoints.stop();
    this.#followers.close();
    this.#file.close();
  }

  /** libsql's statements go on working behind a closed database: this is what stops them. */
  #checkOpen(): void {
    if (this.#closed) throw closedError();
  }

  #store(commit: Commit): void {
    for (const entry of commit.entries) this.#entries.add(entry);
    for (const archive of commit.archives ?? []) this.#archives.put(archive);
    for (const record of commit.records ?? []) this.#records.put(record);
  }

  #write(work: () => void, durability: Commit['durability'] = 'normal'): void {
    try {
      if (durability === 'full') withFullSync(this.#file.db, work);
      else this.#file.db.transaction(work);
    } catch (error) {
      throw error instanceof SqliteError ? writeError(error, this.#file.path) : error;
    }
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

function sizeOf({ entries, archives = [], records = [] }: Commit): [rows: number, characters: number] {
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
