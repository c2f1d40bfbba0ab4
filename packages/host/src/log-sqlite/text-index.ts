/**
 * The full text of the log, in a file of its own beside it, with SQLite's FTS5. The log alone holds the text; the index
 * says where each word occurs. A document's position derives from its minute, so the newest come first and a range of
 * time is a range of positions. Losing this file loses nothing: a damaged one is deleted and built again.
 */
import { closeSync, lstatSync, openSync, rmSync } from 'node:fs';
import { uptime } from 'node:os';
import {
  type IndexedChannel,
  type TextDocument,
  type TextHit,
  type TextIndex,
  TextIndexDamagedError,
  type TextQuery,
} from '@atrium/core/log/text-index.js';
import { nextSlice } from '@atrium/core/util/slices.js';
import { type Phrase, spaced } from '@atrium/protocol/ahp-1';
import { type Database, SQLITE, type SqliteDriver, SqliteError, type SqlValue, type Statement } from './driver.js';
import { DATABASE_PARTS } from './schema.js';

export const TEXT_INDEX_FILE = 'search.db';

/** Increases when the tables change, or the content put into them; an index of another version is built again. */
const VERSION = 1;
const SCHEMA = `
  CREATE TABLE channels (id INTEGER PRIMARY KEY, uri TEXT NOT NULL UNIQUE, seq INTEGER NOT NULL, count INTEGER NOT NULL);
  CREATE TABLE documents (
    position INTEGER PRIMARY KEY,
    channel INTEGER NOT NULL,
    idx INTEGER NOT NULL,
    time INTEGER NOT NULL,
    id TEXT NOT NULL
  );
  CREATE UNIQUE INDEX documents_by_place ON documents (channel, idx);
  CREATE VIRTUAL TABLE words USING fts5(
    text, files, model, channel,
    content = '', contentless_delete = 1, detail = full, tokenize = 'unicode61 remove_diacritics 2'
  );
  -- By itself FTS5 merges within the commit that makes it necessary, for 10 ms and more: see \`tidy\`.
  INSERT INTO words (words, rank) VALUES ('automerge', 0);
  -- Larger pieces than a page repeat fewer beginnings of words.
  INSERT INTO words (words, rank) VALUES ('pgsz', 8000);
  -- One row: when the machine started on which the file is open; 0 when it was closed in order.
  CREATE TABLE opened (id INTEGER PRIMARY KEY CHECK (id = 1), boot INTEGER NOT NULL);
  INSERT INTO opened VALUES (1, 0);
`;
const MINUTE_MS = 60_000;
/** How many positions each minute has. When they are used up, documents take those of the following minutes. */
const PER_MINUTE = 8;
/** How many minutes later than its own a document's position may be, when much is said. */
const SPILL_MINUTES = 24 * 60;
/** A query names up to this many channels as words; for more, each hit's channel is checked. */
const CHANNELS_IN_QUERY_MAX = 40;
/** How many documents one slice covers when hits are checked one by one. */
const SLICE_DOCUMENTS = 20_000;
/** How many pages are merged at once. */
const MERGED_PAGES = 4;
/** Two computations of the boot time may differ by this many seconds. */
const BOOT_TOLERANCE_S = 60;
/** Any other error of SQLite on these statements means that the file is damaged. */
const NO_DAMAGE: ReadonlySet<number> = new Set([SQLITE.busy, SQLITE.readOnly, SQLITE.full, 10, 14]);

interface HitRow {
  readonly position: number;
  readonly uri: string;
  readonly idx: number;
  readonly id: string;
  readonly time: number;
}

export interface TextIndexOptions {
  readonly driver: SqliteDriver;
  readonly path: string;
}

/** Opens the file, and replaces one that is unusable. Throws when no file can be created there. */
export function openTextIndex({ driver, path }: TextIndexOptions): SqliteTextIndex {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats && !stats.isFile()) throw new Error(`${path} is not a regular file: move it away`);
  if (stats) {
    try {
      return new SqliteTextIndex(driver.open(path));
    } catch {
      // Whatever is wrong with it, it is built again.
    }
  }
  removeTextIndex(path);
  // SQLite gives its other files the same mode.
  closeSync(openSync(path, 'wx', 0o600));
  const db = driver.open(path);
  db.exec(`BEGIN; ${SCHEMA} PRAGMA user_version = ${VERSION}; COMMIT`);
  return new SqliteTextIndex(db);
}

export function removeTextIndex(path: string): void {
  for (const part of DATABASE_PARTS) rmSync(path + part, { force: true });
}

export class SqliteTextIndex implements TextIndex {
  readonly #db: Database;
  readonly #channels: Statement<{ uri: string }>;
  readonly #channel: Statement<IndexedChannel & { readonly id: number }>;
  readonly #putChannel: Statement<never>;
  readonly #dropChannel: Statement<never>;
  readonly #idAt: Statement<{ id: string }>;
  readonly #cutWords: Statement<never>;
  readonly #cut: Statement<never>;
  readonly #add: Statement<never>;
  readonly #addWords: Statement<never>;
  readonly #lastIn: Statement<{ last: number | null }>;
  readonly #merge: Statement<never>;
  readonly #changes: Statement<{ count: number }>;
  readonly #further: Statement<{ position: number }>;
  readonly #queries = new Map<string, Statement<HitRow>>();
  #last = { base: -1, position: -1 };
  #isClosed = false;

  /** Throws when the file is not ours, or may not have been written out before the machine stopped. */
  constructor(db: Database) {
    this.#db = db;
    try {
      // In this mode a crash of the process loses nothing. A crash of the machine may, and `boot` detects it.
      db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY');
      this.#checkFile();
      const text = (column: string) => db.text(column);
      this.#channels = db.prepare(`SELECT ${text('uri')} AS uri FROM channels`);
      this.#channel = db.prepare('SELECT id, seq, count FROM channels WHERE uri = ?');
      this.#putChannel = db.prepare(`
        INSERT INTO channels (uri, seq, count) VALUES (?1, ?2, ?3)
        ON CONFLICT (uri) DO UPDATE SET seq = ?2, count = ?3`);
      this.#dropChannel = db.prepare('DELETE FROM channels WHERE id = ?');
      this.#idAt = db.prepare(`
        SELECT ${text('documents.id')} AS id FROM documents JOIN channels ON channels.id = documents.channel
        WHERE channels.uri = ? AND documents.idx = ?`);
      this.#cutWords = db.prepare(
        'DELETE FROM words WHERE rowid IN (SELECT position FROM documents WHERE channel = ? AND idx >= ?)',
      );
      this.#cut = db.prepare('DELETE FROM documents WHERE channel = ? AND idx >= ?');
      this.#add = db.prepare('INSERT INTO documents (position, channel, idx, time, id) VALUES (?, ?, ?, ?, ?)');
      this.#addWords = db.prepare('INSERT INTO words (rowid, text, files, model, channel) VALUES (?, ?, ?, ?, ?)');
      this.#lastIn = db.prepare('SELECT max(position) AS last FROM documents WHERE position >= ? AND position < ?');
      this.#merge = db.prepare("INSERT INTO words (words, rank) VALUES ('merge', ?)");
      this.#changes = db.prepare('SELECT total_changes() AS count');
      this.#further = db.prepare(
        'SELECT position FROM documents WHERE position < ? ORDER BY position DESC LIMIT 1 OFFSET ?',
      );
    } catch (error) {
      db.close();
      throw error;
    }
  }

  #checkFile(): void {
    const { version } = this.#db
      .prepare<{ version: number }>('SELECT user_version AS version FROM pragma_user_version')
      .get() ?? { version: 0 };
    if (version !== VERSION) throw new TextIndexDamagedError(`the index has version ${version}`);
    const boot = Math.round(Date.now() / 1_000 - uptime());
    const { boot: before } = this.#db.prepare<{ boot: number }>('SELECT boot FROM opened').get() ?? { boot: 0 };
    if (before !== 0 && Math.abs(before - boot) > BOOT_TOLERANCE_S)
      throw new TextIndexDamagedError('the machine stopped while the index was open');
    this.#db.prepare('UPDATE opened SET boot = ?').run(boot);
  }

  async channels(): Promise<string[]> {
    return this.#guarded(() => this.#channels.all().map(({ uri }) => uri));
  }

  async channel(uri: string): Promise<IndexedChannel | undefined> {
    return this.#guarded(() => this.#channel.get(uri));
  }

  async idAt(uri: string, index: number): Promise<string | undefined> {
    return this.#guarded(() => this.#idAt.get(uri, index)?.id);
  }

  async replace(
    uri: string,
    { seq, start, documents }: { seq: number; start: number; documents: readonly TextDocument[] },
  ): Promise<void> {
    this.#guarded(() =>
      this.#db.transaction(() => {
        this.#putChannel.run(uri, seq, start + documents.length);
        const { id = 0 } = this.#channel.get(uri) ?? {};
        this.#cutFrom(id, start);
        for (const [at, document] of documents.entries()) this.#put(id, start + at, document);
      }),
    );
  }

  #cutFrom(channel: number, start: number): void {
    this.#cutWords.run(channel, start);
    this.#cut.run(channel, start);
  }

  #put(channel: number, idx: number, { id, time, text, files, model }: TextDocument): void {
    const position = this.#free(Math.max(0, Math.floor(time / MINUTE_MS)) * PER_MINUTE);
    this.#add.run(position, channel, idx, time, id);
    this.#addWords.run(position, spaced(text), spaced(files), spaced(model), `c${channel}`);
  }

  /** The next free position of this minute, or of a later one when it is full. */
  #free(base: number): number {
    let from = this.#last.base === base ? this.#last.position - (this.#last.position % PER_MINUTE) : base;
    for (;;) {
      const last = this.#lastIn.get(from, from + PER_MINUTE)?.last ?? from - 1;
      if (last < from + PER_MINUTE - 1) {
        this.#last = { base, position: last + 1 };
        return last + 1;
      }
      from += PER_MINUTE;
    }
  }

  async forget(uri: string): Promise<void> {
    this.#guarded(() =>
      this.#db.transaction(() => {
        const known = this.#channel.get(uri);
        if (!known) return;
        this.#cutFrom(known.id, 0);
        this.#dropChannel.run(known.id);
      }),
    );
  }

  /** FTS5 reports a merge by the number of changes: 1 is the statement itself. */
  async tidy(): Promise<boolean> {
    return this.#guarded(() => {
      const before = this.#changes.get()?.count ?? 0;
      this.#merge.run(MERGED_PAGES);
      return (this.#changes.get()?.count ?? 0) - before > 1;
    });
  }

  async find(query: TextQuery): Promise<TextHit[]> {
    const { since = 0, until, behind, limit } = query;
    const ids = this.#guarded(() => query.channels?.flatMap((uri) => this.#channel.get(uri)?.id ?? []));
    if (ids?.length === 0) return [];
    const isLong = ids !== undefined && ids.length > CHANNELS_IN_QUERY_MAX;
    const expression = isLong ? matchOf(query) : matchOf(query, ids);
    const statement = this.#query({
      isMatch: expression.all !== '',
      isExcept: expression.all === '' && expression.none !== '',
      isListed: isLong,
    });
    const lowest = Math.floor(Math.max(0, since) / MINUTE_MS) * PER_MINUTE;
    const values = (below: number, from: number, count: number): SqlValue[] => [
      ...(expression.all === '' ? [] : [expression.all + (expression.none && ` NOT ${expression.none}`)]),
      ...[below, from, since, until ?? Number.MAX_SAFE_INTEGER],
      ...(expression.all === '' && expression.none !== '' ? [expression.none] : []),
      ...(isLong ? [JSON.stringify(ids)] : []),
      count,
    ];
    const latest = until === undefined ? Number.MAX_SAFE_INTEGER : endOf(until);
    let below = behind === undefined ? latest : Math.min(latest, Number(behind) || 0);
    const hits: HitRow[] = [];
    while (hits.length < limit && below > lowest) {
      // When every hit is checked, slices keep a very common word from blocking the host.
      const next = isLong ? this.#guarded(() => this.#further.get(below, SLICE_DOCUMENTS)?.position) : undefined;
      const from = Math.max(lowest, next ?? 0);
      hits.push(...this.#guarded(() => statement.all(...values(below, from, limit - hits.length))));
      below = from;
      if (below > lowest) await nextSlice();
      if (this.#isClosed) return [];
    }
    return hits.map(({ position, uri, idx, id, time }) => ({
      ...{ channel: uri, index: idx, id, time, position: String(position) },
    }));
  }

  #query({ isMatch, isExcept, isListed }: { isMatch: boolean; isExcept: boolean; isListed: boolean }) {
    const { text } = this.#db;
    const sql = `
      SELECT d.position, ${text('c.uri')} AS uri, d.idx, ${text('d.id')} AS id, d.time
      FROM ${isMatch ? 'words CROSS JOIN documents d ON d.position = words.rowid' : 'documents d'}
        CROSS JOIN channels c ON c.id = d.channel
      WHERE ${isMatch ? 'words MATCH ? AND words.rowid < ? AND words.rowid >= ?' : 'd.position < ? AND d.position >= ?'}
        AND d.time >= ? AND d.time < ?
        ${isExcept ? 'AND d.position NOT IN (SELECT rowid FROM words WHERE words MATCH ?)' : ''}
        ${isListed ? 'AND d.channel IN (SELECT value FROM json_each(?))' : ''}
      ORDER BY ${isMatch ? 'words.rowid' : 'd.position'} DESC LIMIT ?`;
    const statement = this.#queries.get(sql) ?? this.#guarded(() => this.#db.prepare<HitRow>(sql));
    this.#queries.set(sql, statement);
    return statement;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    try {
      this.#db.exec('UPDATE opened SET boot = 0; PRAGMA wal_checkpoint(TRUNCATE)');
    } finally {
      this.#db.close();
    }
  }

  /** libsql's statements keep working after their database is closed: this check stops them. */
  #guarded<T>(work: () => T): T {
    if (this.#isClosed) throw new Error('the index is closed');
    try {
      return work();
    } catch (error) {
      if (!(error instanceof SqliteError) || NO_DAMAGE.has(error.code)) throw error;
      throw new TextIndexDamagedError(error.message, { cause: error });
    }
  }
}

function endOf(until: number): number {
  return (Math.floor(Math.max(0, until) / MINUTE_MS) + SPILL_MINUTES) * PER_MINUTE;
}

/** Translates a query to the language of FTS5. Every word is quoted there, so that none acts as an operator. */
function matchOf({ all, none, file, model }: TextQuery, channels?: readonly number[]): { all: string; none: string } {
  const parts = [
    ...(all.length > 0 ? [`{text files} : (${all.map(phraseText).join(' AND ')})`] : []),
    ...(file ? [`files : ${phraseText(file)}`] : []),
    ...(model ? [`model : ${phraseText(model)}`] : []),
    ...(channels ? [`channel : (${channels.map((id) => `"c${id}"`).join(' OR ')})`] : []),
  ];
  const excluded = none.length === 0 ? '' : `({text files} : (${none.map(phraseText).join(' OR ')}))`;
  return { all: parts.length === 0 ? '' : `(${parts.join(' AND ')})`, none: excluded };
}

function phraseText({ words, isPrefix }: Phrase): string {
  return `"${words.join(' ').replaceAll('"', '""')}"${isPrefix ? ' *' : ''}`;
}
