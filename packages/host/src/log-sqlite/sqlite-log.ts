/**
 * The embedded log: one SQLite file in the data folder, with a journal beside it while it is open. One commit is one
 * transaction or one line of the journal; every transaction also takes the lines that are in the journal. The log
 * stores entries, archives and records as text; `open.ts` opens the files and has them repaired. A `full` commit may be
 * a line, too, if a power cut cannot take anything from the database that the line depends on: see decision 0150.
 *
 * What can be lost: nothing when the process dies. When the machine loses power, commits of durability `normal` since
 * the last `full` one or checkpoint; never part of a commit, and never a `full` one.
 */
import path from 'node:path';
import { checkCommit, recordText } from '@atrium/core/log/check-commit.js';
import { answersPrefix, beginning, epochKey } from '@atrium/core/log/client-records.js';
import {
  type ArchivedTurn,
  type ArchiveHead,
  type ClientFacts,
  type Commit,
  closedError,
  type Log,
  type LogEntry,
  LogFencedError,
  type LogRepair,
  LogWriteError,
  type LogWriteReason,
  type ReadRange,
  type RecordsAtHand,
  type ReplayLimits,
  type Stored,
  type StoredChannel,
  type StoredRecord,
  type TurnRange,
  type TurnsJson,
  type TurnsJsonRange,
} from '@atrium/core/log/log.js';
import { RecentEntries } from '@atrium/core/log/recent-entries.js';
import type { TextIndex } from '@atrium/core/log/text-index.js';
import { type Clock, systemClock } from '@atrium/core/util/clock.js';
import { type Logger, silentLogger } from '@atrium/core/util/logger.js';
import { ArchiveTable } from './archives.js';
import { ChannelReader } from './channel-reader.js';
import { CommitJournal, FOLD_AFTER_MS, type JournalRecords, newSalt } from './commit-journal.js';
import { Damage } from './damage.js';
import { type Database, loadDriver, SQLITE, type SqliteDriver, SqliteError, type Statement } from './driver.js';
import { EntryTable } from './entries.js';
import { type OpenedFile, openFile } from './open.js';
import { RecordTable } from './records.js';
import { Checkpoints } from './schema.js';
import { openTextIndex, removeTextIndex, TEXT_INDEX_FILE } from './text-index.js';

const WRITE_ERRORS: Readonly<Record<number, readonly [LogWriteReason, string]>> = {
  [SQLITE.full]: ['disk-full', 'the disk is full: make room; nothing was stored'],
  [SQLITE.readOnly]: ['failed', 'the file cannot be written: check its permissions; nothing was stored'],
  [SQLITE.corrupt]: ['damaged', 'the file is damaged: restart the host, which repairs it; nothing was stored'],
};
/** Entries dropped in one transaction; the event loop runs in between. */
const COMPACT_BATCH_ENTRIES = 2_000;
/** The shortest time between two checks that the folder is still locked. */
export const LOCK_CHECK_MS = 10_000;

export interface SqliteLogOptions {
  /** The folder of `atrium.db`. A missing one is created for its owner only. */
  readonly dataDir: string;
  readonly clock?: Clock;
  readonly logger?: Logger;
  readonly driver?: SqliteDriver;
}

/** Throws `LogLockedError` when another process uses the folder, and `LogOpenError` when the folder cannot be used. */
export async function openSqliteLog(options: SqliteLogOptions): Promise<SqliteLog> {
  const { dataDir, clock = systemClock, logger = silentLogger } = options;
  const driver = options.driver ?? (await loadDriver());
  const file = openFile({ dataDir, driver, logger, now: clock.now() });
  try {
    return new SqliteLog({ file, clock, logger, driver });
  } catch (error) {
    file.close();
    throw error;
  }
}

export class SqliteLog implements Log {
  readonly #damage: Damage;
  readonly #file: OpenedFile;
  readonly #entries: EntryTable;
  readonly #archives: ArchiveTable;
  readonly #records: RecordTable;
  readonly #recent: RecentEntries;
  readonly #channels: ChannelReader;
  readonly #checkpoints: Checkpoints;
  readonly #journal: CommitJournal;
  readonly #setSalts: Statement<never>;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #driver: SqliteDriver;
  #textIndex: TextIndex | undefined;
  #lockCheckedAt: number;
  #head: number;
  #oldest: number;
  #closed = false;
  /**
   * Whether the database, with the salt of the journal, would survive a power cut as it is. If so, a synced line
   * survives, too.
   */
  #isSynced = false;
  /**
   * The last step of a transaction failed. If the host dies now, the next opening may still find the transaction in the
   * file.
   */
  #isInDoubt = false;
  #cancelFold: (() => void) | undefined;

  constructor(options: Required<Omit<SqliteLogOptions, 'dataDir'>> & { readonly file: OpenedFile }) {
    const { file, clock, logger, driver } = options;
    this.#driver = driver;
    this.#file = file;
    this.#clock = clock;
    this.#logger = logger;
    this.#lockCheckedAt = clock.now();
    const { path: database, repairs } = file;
    // A read may find damage. Mending it must leave the journal as it is.
    const write = (work: () => void) => writeDurably({ db: file.db, path: database, durability: 'normal' }, work);
    this.#damage = new Damage({ path: database, clock, repairs, write });
    this.#entries = new EntryTable(file.db, this.#damage);
    this.#archives = new ArchiveTable(file.db, this.#damage);
    this.#records = new RecordTable(file.db, this.#damage);
    this.#checkpoints = new Checkpoints({ db: file.db, clock, logger });
    ({ head: this.#head, oldest: this.#oldest } = this.#entries.bounds());
    this.#journal = new CommitJournal(file.journal.path, file.journal.salt);
    this.#setSalts = file.db.prepare('UPDATE journal SET salt = ?, folded = coalesce(?, folded)');
    this.#recent = new RecentEntries(this.#head);
    this.#channels = new ChannelReader({
      entries: { read: (range) => this.#read(range) },
      archives: this.#archives,
      head: () => this.#head,
      isClosed: () => this.#closed,
    });
  }

  get repairs(): readonly LogRepair[] {
    return this.#damage.repairs;
  }

  onRepair(listener: (repair: LogRepair) => void): void {
    this.#damage.onRepair(listener);
  }

  get head(): number {
    return this.#head;
  }

  get oldest(): number {
    return this.#oldest;
  }

  async append(commit: Commit): Promise<Stored> {
    this.#checkOpen();
    checkCommit(commit);
    this.#watchLock();
    const first = this.#head + 1;
    if (!this.#writeLine(commit, first)) this.#writeRows(commit, first);
    this.#head += commit.entries.length;
    const stored = { first, last: this.#head };
    this.#recent.add(commit.entries, stored);
    for (const { channel } of commit.archives ?? []) this.#channels.changed(channel);
    return stored;
  }

  /** False when the commit does not fit the journal, or the journal cannot be written. */
  #writeLine(commit: Commit, first: number): boolean {
    const isFull = commit.durability === 'full';
    if (this.#isInDoubt || (isFull && !this.#isSynced)) return false;
    if (!this.#journal.accepts(commit) || !this.#isSurelyNew(commit)) return false;
    if (this.#journal.isEmpty && !this.#canBeginJournal()) return false;
    if (isFull) this.#checkAlone();
    if (!this.#journal.write(commit, first)) return false;
    this.#cancelFold ??= this.#clock.after(FOLD_AFTER_MS, () => this.#fold());
    return true;
  }

  /**
   * Whether the client has certainly not used this number before, because all its earlier ones are smaller. Clients
   * count up, so that is nearly always true. If not, or if the commit has several entries of clients, a transaction
   * looks in the index.
   */
  #isSurelyNew({ entries }: Commit): boolean {
    let isFirst = true;
    for (const { origin } of entries) {
      if (!origin) continue;
      const { clientId, epoch, clientSeq } = origin;
      const greatest =
        this.#journal.greatest(origin) ?? this.#entries.clientSeqs(clientId, epoch, clientSeq).at(-1) ?? -1;
      if (!isFirst || clientSeq <= greatest) return false;
      isFirst = false;
    }
    return true;
  }

  /** Lines must follow an entry of the database: after numbers that were given up, a repair could not place them. */
  #canBeginJournal(): boolean {
    const { head, endsInSkip } = this.#entries.bounds();
    if (head !== this.#head) throw fencedError(head, this.#head);
    return !endsInSkip;
  }

  /** A commit that must survive a power cut is not written after lines that the next opening would keep aside. */
  #checkAlone(): void {
    const fenced = this.#fenced();
    if (fenced) throw fenced;
  }

  #writeRows(commit: Commit, first: number): void {
    try {
      this.#write(() => this.#store(commit, first), commit.durability);
    } catch (error) {
      throw this.#fenced() ?? error;
    }
    this.#checkpoints.wrote(...sizeOf(commit));
  }

  async read(range: ReadRange): Promise<LogEntry[]> {
    this.#checkOpen();
    return this.#read(range);
  }

  #read(range: ReadRange): LogEntry[] {
    return this.#journal.behind(this.#entries.read(range), range);
  }

  async missed(after: number, channels: readonly string[], limits: ReplayLimits) {
    this.#checkOpen();
    return this.#recent.missed({ after, channels, limits }, (range) => this.#entries.read(range));
  }

  async openChannel(channel: string, turns: number): Promise<StoredChannel | undefined> {
    this.#checkOpen();
    return this.#channels.read(channel, turns);
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
    const turns = this.#archives.turns(channel, range);
    return turns.map(({ json }) => json).join(',');
  }

  async archivedTurnsJson(channel: string, range: TurnsJsonRange): Promise<TurnsJson> {
    this.#checkOpen();
    return this.#archives.turnsJson(channel, range);
  }

  async findTurn(channel: string, turnId: string): Promise<number | undefined> {
    this.#checkOpen();
    return this.#archives.findTurn(channel, turnId);
  }

  async channels(): Promise<string[]> {
    this.#checkOpen();
    return this.#archives.channels();
  }

  async copyTurns(from: string, to: string, range: TurnRange): Promise<number> {
    this.#checkOpen();
    let copied = 0;
    this.#write(() => {
      copied = this.#archives.copyTurns(from, to, range);
    });
    return copied;
  }

  async record(key: string): Promise<string | undefined> {
    this.#checkOpen();
    return this.#record(key);
  }

  #record(key: string): string | undefined {
    const waiting = this.#journal.records.get(key);
    return waiting === undefined ? this.#records.get(key) : (waiting ?? undefined);
  }

  async records(prefix: string): Promise<StoredRecord[]> {
    this.#checkOpen();
    return this.#records.list(prefix, this.#journal.records);
  }

  async eachRecord(prefix: string, visit: (record: StoredRecord) => void): Promise<void> {
    this.#checkOpen();
    this.#records.each(prefix, visit, { waiting: this.#journal.records });
  }

  recordsAtHand(prefix: string): RecordsAtHand {
    const checked = <T>(read: (waiting: JournalRecords) => T): T => {
      this.#checkOpen();
      return read(this.#journal.records);
    };
    return {
      count: () => checked((waiting) => this.#records.count(prefix, waiting)),
      keys: () => checked((waiting) => this.#records.keys(prefix, waiting)),
      keysUnlike: (end) => checked((waiting) => this.#records.keysUnlike(prefix, end, waiting)),
      read: (keys) => checked((waiting) => this.#records.read(keys, waiting)),
      each: (visit, damaged) => checked((waiting) => this.#records.each(prefix, visit, { waiting, damaged })),
      glance: (paths, visit) => checked(() => this.#records.glance(prefix, paths, visit)),
    };
  }

  async beginClient(clientId: string, facts: ClientFacts): Promise<{ epoch: number }> {
    this.#checkOpen();
    const stored = {
      epoch: this.#record(epochKey(clientId)),
      answers: this.#records.list(answersPrefix(clientId), this.#journal.records),
    };
    const { epoch, commit } = beginning(clientId, stored, facts);
    await this.append(commit);
    return { epoch };
  }

  async clientSeqs(clientId: string, epoch: number, from: number): Promise<number[]> {
    this.#checkOpen();
    const stored = this.#entries.clientSeqs(clientId, epoch, from);
    return [...stored, ...this.#journal.clientSeqs(clientId, epoch, from)];
  }

  async compact({ upTo, keep }: { readonly upTo: number; readonly keep: number }): Promise<void> {
    this.#checkOpen();
    this.#emptyJournal();
    const last = this.#entries.lastDroppable(Math.min(upTo, this.#head - keep));
    // After a repair there may be entries below the oldest; the first batch drops them, too.
    for (let done = Math.min(this.#oldest, last) - 1; done < last && !this.#closed; ) {
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
    this.#recent.blank(channel);
    this.#channels.changed(channel);
  }

  async forgetClient(clientId: string): Promise<void> {
    this.#checkOpen();
    this.#write(() => this.#entries.disown(clientId));
    this.#recent.disown(clientId);
  }

  async openTextIndex({ anew = false } = {}): Promise<TextIndex> {
    await this.#textIndex?.close().catch(() => {});
    this.#checkOpen();
    const file = path.join(path.dirname(this.#file.path), TEXT_INDEX_FILE);
    if (anew) removeTextIndex(file);
    this.#textIndex = openTextIndex({ driver: this.#driver, path: file });
    return this.#textIndex;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    await this.#textIndex?.close().catch(() => {});
    this.#fold();
    this.#closed = true;
    this.#checkpoints.stop();
    this.#journal.close();
    this.#file.close({ journal: !this.#journal.isEmpty });
  }

  /** libsql's statements keep working after their database is closed: this check stops them. */
  #checkOpen(): void {
    if (this.#closed) throw closedError();
  }

  /** An error if another process has written to the file: this append could never succeed. */
  #fenced(): LogFencedError | undefined {
    const { head } = this.#entries.bounds();
    const expected = this.#head - this.#journal.entries.length;
    return head === expected ? undefined : fencedError(head, expected);
  }

  #watchLock(): void {
    const now = this.#clock.now();
    if (Math.abs(now - this.#lockCheckedAt) < LOCK_CHECK_MS) return;
    this.#lockCheckedAt = now;
    const state = this.#file.renewLock();
    const { path } = this.#file;
    if (state === 'renewed')
      this.#logger.log('warn', 'the lock file was deleted while the host ran; the host has created it again', { path });
    if (state === 'lost')
      this.#logger.log('error', 'another process has locked the data folder: end one of the two', { path });
  }

  #store({ entries, archives = [], records = [] }: Commit, first: number): void {
    let seq = first;
    for (const entry of entries) this.#entries.add(seq++, entry);
    for (const archive of archives) this.#archives.put(seq - 1, archive);
    for (const { key, value } of records) this.#records.put(key, value && recordText(value, first));
  }

  /** Runs a transaction that also takes the journal's lines. It is as durable as the most durable of them. */
  #write(work: () => void, durability: Commit['durability'] = 'normal'): void {
    const isFull = durability === 'full' || this.#journal.hasSynced;
    const write = (all: () => void) => this.#transaction(all, isFull ? 'full' : 'normal');
    // Opening the file has not synced the salt.
    if (this.#journal.mayHaveLines || (isFull && !this.#isSynced)) this.#writeBehindJournal(write, work);
    else write(work);
    this.#isSynced = isFull;
  }

  /**
   * If only the last step fails, such as a sync, the whole transaction may be in the write-ahead file. The next
   * transaction overwrites it; until then no line may be acknowledged, because it would have the same number.
   */
  #transaction(work: () => void, durability: Commit['durability']): void {
    const { db, path } = this.#file;
    let isWritten = false;
    try {
      writeDurably({ db, path, durability }, () => {
        work();
        isWritten = true;
      });
      this.#isInDoubt = false;
    } catch (error) {
      if (isWritten) this.#isInDoubt = true;
      throw error;
    }
  }

  #writeBehindJournal(write: (all: () => void) => void, work: () => void): void {
    const { first, entries, records, characters, mayHaveLines } = this.#journal;
    const salt = newSalt();
    write(() => {
      this.#entries.addAll(first, entries);
      for (const [key, value] of records) this.#records.put(key, value);
      // If the file could not be emptied, the database must still recognise its lines; otherwise it keeps the salt that
      // it has.
      this.#setSalts.run(salt, mayHaveLines ? this.#journal.salt : null);
      work();
    });
    this.#journal.emptied(salt);
    this.#cancelFold?.();
    this.#cancelFold = undefined;
    this.#checkpoints.wrote(entries.length + records.size, characters);
  }

  #emptyJournal(): void {
    if (!this.#journal.isEmpty) this.#write(() => {});
  }

  /**
   * The journal's content is stored already. A fold that fails, as on a full disk, costs nothing, and the host tries
   * again.
   */
  #fold(): void {
    this.#cancelFold?.();
    this.#cancelFold = undefined;
    try {
      this.#emptyJournal();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#logger.log('warn', 'the journal could not be moved into the database; the host tries again', { reason });
    }
  }
}

function fencedError(head: number, expected: number): LogFencedError {
  return new LogFencedError(
    `the log is at ${head}, not at ${expected}: another host has written to it. Use that one, or stop it first`,
  );
}

/** A write to the database: one transaction, with the requested durability and errors that say what to do. */
interface WriteOptions {
  readonly db: Database;
  readonly path: string;
  readonly durability: Commit['durability'];
}

/** Stores everything that the work writes, or nothing. */
function writeDurably({ db, path, durability }: WriteOptions, work: () => void): void {
  try {
    if (durability === 'full') withFullSync(db, work);
    else db.transaction(work);
  } catch (error) {
    throw error instanceof SqliteError ? writeError(error, path) : error;
  }
}

/**
 * `FULL` syncs the write-ahead file at this commit, and with it all earlier commits. Measured: setting the pragma and
 * setting it back costs 5 µs, the sync itself 300 to 600 µs. A checkpoint would sync two files, and a second connection
 * that is always `FULL` would have to be kept from writing at the same time.
 */
function withFullSync(db: Database, work: () => void): void {
  db.exec('PRAGMA synchronous = FULL');
  try {
    db.transaction(work);
  } finally {
    db.exec('PRAGMA synchronous = NORMAL');
  }
}

/** How much a commit writes: its rows, and the characters in them. */
function sizeOf({ entries, archives = [], records = [] }: Commit): [rows: number, characters: number] {
  let rows = entries.length + archives.length + records.length;
  let characters = 0;
  for (const entry of entries) characters += entry.action.length;
  for (const { value } of records) characters += value === null ? 0 : recordText(value, 0).length;
  for (const { head, turns } of archives) {
    rows += turns.items.length;
    characters += head.length;
    for (const turn of turns.items) characters += turn.json.length;
  }
  return [rows, characters];
}

function writeError(error: SqliteError, path: string): LogWriteError {
  const [reason, remedy] = WRITE_ERRORS[error.code] ?? ['failed', `${error.message}; nothing was stored`];
  return new LogWriteError(reason, `${path}: ${remedy}`, { cause: error });
}
