/**
 * Moves a log of the 0.3.0 model to the 1.0 model (decision 0035), after copying the file. Everything happens in one
 * transaction: if the host is killed meanwhile, the old log stays, and the next host begins again. This file,
 * `core/sessions/upcast.ts` and the copy can go when no data folder of the 0.3.0 model is left to be opened.
 */
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { type ArchiveHead, type LogRepair, REBUILT_RECORD } from '@atrium/core/log/log.js';
import {
  type StoredStep,
  type UpcastSession,
  upcastDeferred,
  upcastRoot,
  upcastSession,
  upcastTurn,
} from '@atrium/core/sessions/upcast.js';
import type { Logger } from '@atrium/core/util/logger.js';
import { channelKind, defaultChatUri, ROOT_CHANNEL } from '@atrium/protocol/ahp-1';
import { ArchiveTable } from './archives.js';
import { Damage, damagedTurn, sumOf } from './damage.js';
import { type Database, SqliteError, type Statement } from './driver.js';
import { EntryTable } from './entries.js';
import { syncFile, syncFolder } from './folder.js';
import { RecordTable } from './records.js';

const OLD_MODEL = '0.3.0';
/** How often the host reports its progress. */
export const PROGRESS_EVERY_MS = 2_000;
/** Entries that are read, or dropped, at once. */
const PAGE_ENTRIES = 500;
/** How much text of turns is read at once. */
const PAGE_BYTES = 2 ** 20;

const SESSION = 'session:';
const DEFERRED = 'held:';
const UNFINISHED = 'unfinished:';

/** A file in the data folder with the progress of the host; `atrium start` waits longer while it exists. */
const PROGRESS_FILE = 'atrium.upcast';

/** In KiB: SQLite's default, and a size that makes a large transaction faster. */
export const CACHE_KIB = { usual: 2_000, upcast: 64_000 } as const;

export interface UpcastOptions {
  readonly db: Database;
  /** The path of the database. */
  readonly path: string;
  readonly logger: Logger;
  readonly now: number;
}

/**
 * Copies the database, which no process may have open, and returns the path of the copy. Never overwrites another copy.
 */
export function backUp(database: string): string {
  const part = `${database}.backup.new`;
  try {
    copyFileSync(database, part, constants.COPYFILE_FICLONE);
    syncFile(part);
    const target = nameOfBackup(database, part);
    renameSync(part, target);
    syncFolder(path.dirname(database));
    return target;
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
}

/** A host that was killed afterwards may have left the same copy; that one is replaced. */
function nameOfBackup(database: string, part: string): string {
  for (let count = 1; ; count++) {
    const name = `${database}.backup-${OLD_MODEL}${count === 1 ? '' : `-${count}`}`;
    if (!existsSync(name) || isSameFile(name, part)) return name;
  }
}

function isSameFile(a: string, b: string): boolean {
  if (statSync(a).size !== statSync(b).size) return false;
  const [first, second] = [openSync(a, 'r'), openSync(b, 'r')];
  try {
    const [one, other] = [Buffer.alloc(PAGE_BYTES), Buffer.alloc(PAGE_BYTES)];
    for (;;) {
      const read = readSync(first, one);
      if (readSync(second, other) !== read || !one.subarray(0, read).equals(other.subarray(0, read))) return false;
      if (read === 0) return true;
    }
  } finally {
    closeSync(first);
    closeSync(second);
  }
}

/** Moves everything. The caller has begun a transaction, in which it also sets the new version of the file. */
export function upcast(options: UpcastOptions): LogRepair[] {
  const { path: file, now, logger } = options;
  const mends: (() => void)[] = [];
  const damage = new Damage({ path: file, clock: { now: () => now }, repairs: [], write: (work) => mends.push(work) });
  const progress = new Progress(file, logger);
  try {
    new Upcast(options, { damage, mends, progress }).run();
    progress.done();
  } finally {
    progress.close();
  }
  return damage.repairs;
}

/** The stored state of a session. */
interface ArchivedState {
  readonly head: string | undefined;
  readonly isDamaged: boolean;
  /** The steps of the session come after this number. */
  readonly after: number;
}

interface Tools {
  readonly damage: Damage;
  /**
   * Replacements of damaged text. They must not run where errors of SQLite are ignored, because those end the
   * transaction.
   */
  readonly mends: (() => void)[];
  readonly progress: Progress;
}

class Upcast {
  readonly #options: UpcastOptions;
  readonly #damage: Damage;
  readonly #mends: (() => void)[];
  readonly #progress: Progress;
  readonly #entries: EntryTable;
  readonly #archives: ArchiveTable;
  readonly #records: RecordTable;
  readonly #moveTurn: Statement<never>;
  readonly #cutTurns: Statement<never>;
  /** No client has seen this number, so a client that returns with state of the old model gets a snapshot. */
  readonly #seq: number;

  constructor(options: UpcastOptions, { damage, mends, progress }: Tools) {
    const { db } = options;
    this.#options = options;
    this.#damage = damage;
    this.#mends = mends;
    this.#progress = progress;
    this.#entries = new EntryTable(db, damage);
    this.#archives = new ArchiveTable(db, damage);
    this.#records = new RecordTable(db, damage);
    this.#moveTurn = db.prepare('UPDATE turns SET channel = ?, json = ?, sum = ? WHERE channel = ? AND idx = ?');
    this.#cutTurns = db.prepare('DELETE FROM turns WHERE channel = ? AND idx >= ?');
    this.#seq = this.#entries.bounds().head + 1;
  }

  run(): void {
    const listed = this.#records.list(SESSION).map(({ key }) => key.slice(SESSION.length));
    this.#repair();
    const sessions = [...new Set([...this.#archives.channels(), ...listed])].filter(
      (uri) => channelKind(uri) === 'session',
    );
    this.#progress.begin(sessions.length);
    for (const uri of sessions) {
      this.#session(uri);
      this.#progress.step();
    }
    this.#root();
    for (const { key, value } of this.#records.list(DEFERRED)) {
      this.#records.put(key, this.#understood(key, () => upcastDeferred(value)) ?? null);
    }
    this.#repair();
    this.#dropEntries();
  }

  #repair(): void {
    for (const work of this.#mends.splice(0)) work();
  }

  /** Interprets stored text; undefined when the reader does not understand it. */
  #understood<T>(what: string, read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (error instanceof SqliteError) throw error;
      const fields = { what, error: String(error) };
      this.#options.logger.log('error', 'a stored text cannot be understood; the copy of the log still has it', fields);
      return undefined;
    }
  }

  /** A session whose state cannot be understood keeps its turns and its entry in the list. */
  #session(uri: string): void {
    const archive = this.#archives.head(uri);
    const isDamaged = archive?.isDamaged ?? false;
    const state = { head: isDamaged ? undefined : archive?.head, isDamaged, after: archive?.seq ?? 0 };
    const whole = this.#understood(uri, () => ({ up: this.#upcast(uri, state) }));
    this.#store(uri, archive, whole ? whole.up : this.#upcastListed(uri));
  }

  #upcast(uri: string, { head, isDamaged, after }: ArchivedState): UpcastSession | undefined {
    return upcastSession({
      uri,
      listing: this.#records.get(SESSION + uri),
      head,
      isHeadDamaged: isDamaged,
      turnCount: this.#archives.countTurns(uri),
      steps: () => this.#steps(uri, after),
      indexOfTurn: (turnId) => this.#archives.findTurn(uri, turnId),
      now: this.#options.now,
    });
  }

  /** Uses only the list entry, without the archive and the steps. */
  #upcastListed(uri: string): UpcastSession | undefined {
    const state = { head: undefined, isDamaged: true, after: this.#seq };
    return this.#understood(SESSION + uri, () => this.#upcast(uri, state));
  }

  *#steps(channel: string, archivedAt: number): Generator<StoredStep> {
    for (let after = archivedAt; ; ) {
      const page = this.#entries.read({ after, channel, limit: PAGE_ENTRIES });
      yield* page;
      this.#progress.tick();
      after = page.at(-1)?.seq ?? after;
      if (page.length < PAGE_ENTRIES) return;
    }
  }

  /** Turns of an unknown session are kept for the recovery of the list, or for the rest of an import. */
  #store(uri: string, archive: ArchiveHead | undefined, up: UpcastSession | undefined): void {
    const chat = defaultChatUri(uri);
    this.#repair();
    if (up) this.#cutTurns.run(uri, up.keptTurns);
    const moved = this.#moveTurns(uri, chat);
    this.#archives.remove(uri);
    const turns = { start: moved, items: up?.turns ?? [] };
    if (up || archive) this.#archives.put(this.#seq, { channel: chat, head: up?.chatHead ?? '{}', turns });
    if (!up) return this.#unlist(uri);
    this.#archives.put(this.#seq, { channel: uri, head: up.sessionHead, turns: { start: 0, items: [] } });
    if (this.#canList(uri)) this.#records.put(SESSION + uri, up.listing);
  }

  /** Removes a list entry that cannot be understood; the session is then listed by its turns. */
  #unlist(uri: string): void {
    if (this.#records.get(SESSION + uri) === undefined) return;
    this.#records.put(SESSION + uri, null);
    if (this.#records.get(REBUILT_RECORD) === undefined) this.#records.put(REBUILT_RECORD, '{}');
  }

  /** An unlisted session is listed if the list was damaged, unless it was never on the list. */
  #canList(uri: string): boolean {
    const has = (key: string) => this.#records.get(key) !== undefined;
    return has(SESSION + uri) || (has(REBUILT_RECORD) && !has(UNFINISHED + uri));
  }

  #moveTurns(from: string, to: string): number {
    for (let index = 0; ; ) {
      const page = this.#archives.turns(from, { start: index, end: Number.MAX_SAFE_INTEGER, maxBytes: PAGE_BYTES });
      if (page.length === 0) return index;
      for (const { id, json } of page) {
        const text = this.#turn(from, id, json);
        this.#moveTurn.run(to, text, sumOf(id, text), from, index++);
      }
      this.#progress.tick();
    }
  }

  #turn(channel: string, id: string, json: string): string {
    try {
      return upcastTurn(json);
    } catch {
      const hex = Buffer.from(json).toString('hex');
      this.#damage.found({ what: `turn ${id} of ${channel}`, instead: 'another turn says so in its place', hex });
      return damagedTurn(id);
    }
  }

  /** The host writes the root channel itself; only the settings of people are kept. */
  #root(): void {
    const archive = this.#archives.head(ROOT_CHANNEL);
    if (!archive || archive.isDamaged) return;
    const actions = [...this.#steps(ROOT_CHANNEL, archive.seq)].flatMap(({ action }) => action || []);
    const head = this.#understood(ROOT_CHANNEL, () => upcastRoot(archive.head, actions));
    if (head === undefined) return this.#archives.remove(ROOT_CHANNEL);
    this.#archives.put(this.#seq, { channel: ROOT_CHANNEL, head, turns: { start: 0, items: [] } });
  }

  /** The archives hold the effect of all entries. Only the numbers that clients used are remembered. */
  #dropEntries(): void {
    const { oldest } = this.#entries.bounds();
    for (let upTo = oldest; upTo < this.#seq; upTo += PAGE_ENTRIES) this.#entries.drop(upTo);
    this.#entries.drop(this.#seq);
  }
}

/** Reports the progress in the host's log, and in a file. */
class Progress {
  readonly #file: string;
  readonly #logger: Logger;
  readonly #start = performance.now();
  #reportedAt = performance.now();
  #sessions = 0;
  #done = 0;

  constructor(database: string, logger: Logger) {
    this.#file = path.join(path.dirname(database), PROGRESS_FILE);
    this.#logger = logger;
  }

  begin(sessions: number): void {
    this.#sessions = sessions;
    this.#report();
  }

  step(): void {
    this.#done += 1;
    this.tick();
  }

  tick(): void {
    if (performance.now() - this.#reportedAt >= PROGRESS_EVERY_MS) this.#report();
  }

  #report(): void {
    this.#reportedAt = performance.now();
    const counts = { done: this.#done, sessions: this.#sessions };
    this.#logger.log('info', 'moving stored sessions to the model of this version', counts);
    try {
      writeFileSync(this.#file, JSON.stringify(counts), { mode: 0o600 });
    } catch {}
  }

  done(): void {
    const ms = Math.round(performance.now() - this.#start);
    this.#logger.log('info', 'moved all stored sessions', { sessions: this.#sessions, ms });
  }

  close(): void {
    rmSync(this.#file, { force: true });
  }
}
