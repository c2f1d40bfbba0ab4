/** The tables of the embedded log, how a file with them is created and migrated, and when checkpoints run. */
import { closeSync, openSync, readSync, rmSync } from 'node:fs';
import type { Clock } from '@atrium/core/util/clock.js';
import type { Logger } from '@atrium/core/util/logger.js';
import type { Database, SqliteDriver, Statement } from './driver.js';

/** Marks a file as ours in its header: "Atrm". */
export const APPLICATION_ID = 0x4174726d;
/** Increases when the tables change, or the content stored in them. 3: the 1.0 model of the protocol. */
export const SCHEMA_VERSION = 3;
/**
 * The version of a file that a host has open, or had open when it died: a journal may exist beside it. A host that does
 * not know the journal takes it for a file of a later version, and leaves it alone. So does a host that knows only the
 * journal of version 4, which had neither records nor entries of clients. Closing in order sets `SCHEMA_VERSION` again.
 */
export const IN_USE_VERSION = 5;
/** The last version with the 0.3.0 model. */
export const MODEL_03_VERSION = 2;
/**
 * Columns that were added since version 1, always at the end: a migration does not rewrite the file, and older rows
 * have null there. `sum`: the checksum of the row's text. `turn_count`: how many turns belong to the archive, so that a
 * repair can tell how many are lost.
 */
const ADDED_COLUMNS = {
  entries: ['sum'],
  archives: ['sum', 'turn_count'],
  turns: ['sum'],
  records: ['sum'],
} as const;
/** SQLite's default, set explicitly so that it does not depend on how a driver was built. */
export const PAGE_BYTES = 4_096;
/** The files that SQLite keeps beside a database; the database itself comes last. */
export const DATABASE_PARTS = ['-wal', '-shm', '-journal', ''] as const;
/**
 * Every table is keyed by rowid: a damaged file can then be read around its bad pages, row range by row range. The
 * tables are created together and never moved, so each has the same root page in every file: see `repair.ts`.
 */
const SCHEMA = `
  CREATE TABLE entries (
    seq INTEGER PRIMARY KEY,
    channel TEXT NOT NULL,
    time INTEGER NOT NULL,
    action TEXT NOT NULL,
    client_id TEXT,
    epoch INTEGER,
    client_seq INTEGER,
    sum INTEGER
  );
  CREATE UNIQUE INDEX entries_by_origin ON entries (client_id, epoch, client_seq) WHERE client_id IS NOT NULL;
  CREATE INDEX entries_by_channel ON entries (channel);
  CREATE TABLE archives (channel TEXT PRIMARY KEY, seq INTEGER NOT NULL, head TEXT NOT NULL, sum INTEGER, turn_count INTEGER);
  CREATE TABLE turns (
    channel TEXT NOT NULL,
    idx INTEGER NOT NULL,
    id TEXT NOT NULL,
    json TEXT NOT NULL,
    sum INTEGER,
    PRIMARY KEY (channel, idx)
  );
  CREATE INDEX turns_by_id ON turns (channel, id);
  CREATE TABLE records (key TEXT PRIMARY KEY, value TEXT NOT NULL, sum INTEGER);
  CREATE TABLE client_marks (
    client_id TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    ranges TEXT NOT NULL,
    PRIMARY KEY (client_id, epoch)
  );
  -- One row. Entries up to this number were dropped because archives hold what they did.
  CREATE TABLE compaction (id INTEGER PRIMARY KEY CHECK (id = 1), dropped INTEGER NOT NULL);
  INSERT INTO compaction VALUES (1, 0);
  -- Behind entry \`after\`, numbers up to \`upto\` were given up because entries under them may have been lost.
  CREATE TABLE skips (after INTEGER PRIMARY KEY, upto INTEGER NOT NULL);
`;
/** Not among the tables above, because files of earlier hosts have these at other pages, or not at all. */
const LATER_TABLES = `
  -- One row. The salt of the journal lines to come, and of those that the database took last.
  CREATE TABLE IF NOT EXISTS journal (id INTEGER PRIMARY KEY CHECK (id = 1), salt TEXT NOT NULL, folded TEXT NOT NULL);
  -- See \`turn-pages.ts\`. It can be made of the turns, so that a repair leaves it out.
  CREATE TABLE IF NOT EXISTS turn_pages (
    channel TEXT NOT NULL,
    start INTEGER NOT NULL,
    behind INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    longest INTEGER NOT NULL,
    sum INTEGER NOT NULL,
    own_sum INTEGER NOT NULL,
    PRIMARY KEY (channel, start)
  ) WITHOUT ROWID;
`;
/** The table that was added last. */
const NEWEST_TABLE = 'turn_pages';
/** A host assigns fewer numbers than this between two synced commits. */
const SKIP_MIN = 1_000_000;
/** A checkpoint is due at about this many pages of 4 KiB; one of a thousand pages takes 3 to 5 ms. */
const CHECKPOINT_PAGES = 1_000;
/** At this many pages, a checkpoint runs even if the log is never quiet, so that the file stays below about 16 MiB. */
const CHECKPOINT_MAX_PAGES = 4_000;
/** The log is quiet after this long without a commit. */
export const CHECKPOINT_QUIET_MS = 50;

const MAGIC = 'SQLite format 3\0';
const HEADER_BYTES = 100;

/** Reads the header of a file; undefined when it is too damaged. */
export function headerOf(database: string): { readonly applicationId: number; readonly version: number } | undefined {
  const header = Buffer.alloc(HEADER_BYTES);
  const file = openSync(database, 'r');
  const read = readSync(file, header, 0, HEADER_BYTES, 0);
  closeSync(file);
  if (read < HEADER_BYTES || header.toString('latin1', 0, MAGIC.length) !== MAGIC) return undefined;
  return { applicationId: header.readUInt32BE(68), version: header.readUInt32BE(60) };
}

/** Makes a file that only its owner can read, with empty tables. */
export function createDatabase(driver: SqliteDriver, path: string): void {
  for (const part of DATABASE_PARTS) rmSync(path + part, { force: true });
  // SQLite gives its other files the same mode.
  closeSync(openSync(path, 'wx', 0o600));
  fillDatabase(driver, path, (db) => {
    db.exec(`PRAGMA page_size = ${PAGE_BYTES}`);
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}`);
    db.exec(`BEGIN; ${SCHEMA} COMMIT`);
  });
}

/** Writes to a temporary file: fast, and synced only before it is moved into place. */
export function fillDatabase(driver: SqliteDriver, path: string, fill: (db: Database) => void): void {
  withDatabase(driver, path, (db) => {
    db.exec('PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF');
    fill(db);
  });
}

/** Migrates a file of an earlier version. `upcast` moves the stored content to the present model. */
export function migrate(db: Database, upcast: () => void): void {
  const { version = 0 } =
    db.prepare<{ version: number }>('SELECT user_version AS version FROM pragma_user_version').get() ?? {};
  if (version >= SCHEMA_VERSION) return;
  db.transaction(() => {
    if (version < MODEL_03_VERSION) addColumns(db);
    addLaterTables(db);
    upcast();
    db.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
  });
}

export function addLaterTables(db: Database): void {
  db.exec(`${LATER_TABLES} INSERT OR IGNORE INTO journal VALUES (1, '', '')`);
}

export function hasAllTables(db: Database): boolean {
  return db.prepare(`SELECT 1 FROM sqlite_schema WHERE name = '${NEWEST_TABLE}'`).get() !== undefined;
}

function addColumns(db: Database): void {
  for (const [table, columns] of Object.entries(ADDED_COLUMNS)) {
    for (const column of columns) db.exec(`ALTER TABLE ${table} ADD COLUMN ${column} INTEGER`);
  }
}

/** The work must use `exec` only: see the driver. */
export function withDatabase(driver: SqliteDriver, path: string, work: (db: Database) => void): void {
  const db = driver.open(path);
  try {
    work(db);
  } finally {
    db.close();
  }
}

/**
 * Skips every number that a client may have seen on an entry that is now lost. If such a number were used again, that
 * client would later ask for the entries after it and silently miss some. The current time is far above any number of
 * entries, and above an earlier skip.
 */
export function skipNumbers(db: Database, now: number): void {
  db.exec(`
    INSERT OR REPLACE INTO skips
    SELECT entry, max(${Math.floor(now)}, ${SKIP_MIN} + max(entry, archive, dropped, skipped)) FROM (
      SELECT
        coalesce((SELECT max(seq) FROM entries), 0) AS entry,
        coalesce((SELECT max(seq) FROM archives), 0) AS archive,
        coalesce((SELECT dropped FROM compaction), 0) AS dropped,
        coalesce((SELECT max(upto) FROM skips), 0) AS skipped
    )
  `);
}

/**
 * Moves committed pages from the write-ahead file into the database file, away from the hot path. SQLite would do it
 * inside the commit that fills the file (some ms, with syncs); here it waits for a quiet moment between commits.
 */
export class Checkpoints {
  readonly #checkpoint: Statement<unknown>;
  readonly #clock: Clock;
  readonly #logger: Logger;
  #pages = 0;
  #cancel: () => void = () => {};

  constructor(options: { readonly db: Database; readonly clock: Clock; readonly logger: Logger }) {
    this.#checkpoint = options.db.prepare('PRAGMA wal_checkpoint(PASSIVE)');
    this.#clock = options.clock;
    this.#logger = options.logger;
  }

  /** Estimates the pages of a commit: two, one for every second row because of the indexes, and the text. */
  wrote(rows: number, characters: number): void {
    this.#pages += 2 + rows / 2 + characters / PAGE_BYTES;
    if (this.#pages < CHECKPOINT_PAGES) return;
    this.#cancel();
    // Even an overdue checkpoint runs after the caller has broadcast its commit.
    this.#cancel = this.#clock.after(this.#pages < CHECKPOINT_MAX_PAGES ? CHECKPOINT_QUIET_MS : 0, () => this.#run());
  }

  stop(): void {
    this.#cancel();
  }

  #run(): void {
    this.#pages = 0;
    try {
      this.#checkpoint.all();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#logger.log('warn', 'a checkpoint of the log failed; the host tries again later', { reason });
    }
  }
}
