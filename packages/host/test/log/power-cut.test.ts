/**
 * A machine that loses power: of what was written since it was last synced, anything may be gone. The test keeps a copy of
 * the database and of the journal as each was synced last, and opens them together in every mix with what was written since.
 */
import fs, { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import type { Commit } from '@atrium/core/log/log.js';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import {
  CommitJournal,
  FOLD_AFTER_MS,
  JOURNAL_COMMIT_MAX_ENTRIES,
  readJournal,
} from '../../src/log-sqlite/commit-journal.js';
import { type SqliteDriver, SqliteError } from '../../src/log-sqlite/driver.js';
import { openSqliteLog, type SqliteLog } from '../../src/log-sqlite/sqlite-log.js';
import { FakeClock } from '../support/fake-clock.js';
import { Random } from '../support/fuzz-random.js';
import { copyOf, dataFolder, drivers, openLog } from '../support/log-folders.js';
import { appendSamples, sampleEntries, sampleEntry, TURNS_CHANNEL } from '../support/log-samples.js';

const COMMITS = 40;
/** The code of SQLite. */
const IO_ERROR = 10;
const SEED = Random.seedFromEnvironment();
const journalOf = (dataDir: string) => path.join(dataDir, 'atrium.journal');
const { fdatasyncSync, ftruncateSync, writeSync } = fs;

afterEach(() => {
  Object.assign(fs, { fdatasyncSync, ftruncateSync, writeSync });
  syncBuiltinESMExports();
});

describe.each(drivers)(`a log on a machine that loses power (seed ${SEED}, $name)`, (driver) => {
  it('[REL-095] has every commit that was to survive it, and all before', { timeout: 240_000 }, async () => {
    const disk = await Disk.begin(driver);
    const random = new Random(SEED);
    let surviving = disk.log.head;
    for (let commit = 0; commit < COMMITS; commit++) {
      if (await change(disk, random.below(8))) surviving = disk.log.head;
      for (const survivor of disk.survivors(random)) {
        const log = await openLog(survivor, { driver });
        const stored = await log.read({ after: 0 });
        expect(stored.slice(0, surviving), `commit ${commit}`).toEqual(sampleEntries(1, surviving));
        expect(log.head).toBeGreaterThanOrEqual(disk.log.head);
        await log.close();
      }
    }
    expect(disk.syncs).toBeGreaterThan(0);
  });

  it('[REL-095] leaves a commit to the database when its line cannot be synced', async () => {
    const disk = await Disk.begin(driver);
    const { log } = disk;
    await appendSamples(log, 1, 'full');
    await appendSamples(log, 1, 'full');
    failing('fdatasyncSync');
    await appendSamples(log, 1, 'full');
    expect(readFileSync(journalOf(disk.dataDir), 'utf8')).toBe('');
    await appendSamples(log, 1);
    expect(readFileSync(journalOf(disk.dataDir), 'utf8')).toBe('');
    const again = await openLog(copyOf(disk.dataDir), { driver });
    expect([again.head, again.repairs]).toEqual([log.head, []]);
    expect(await again.read({ after: 0 })).toEqual(sampleEntries(1, log.head));
  });
});

describe('a journal on a disk that takes half a line', () => {
  const commit = (action: string): Commit => ({ entries: [{ channel: 'c', time: 1, action }], durability: 'normal' });

  function begun() {
    const file = journalOf(dataFolder());
    const journal = new CommitJournal(file, 'salt');
    onTestFinished(() => journal.close());
    expect(journal.write(commit('"first"'), 1)).toBe(true);
    fs.writeSync = ((handle: number, text: string, position: number) =>
      writeSync(handle, text.slice(0, 9), position)) as typeof fs.writeSync;
    syncBuiltinESMExports();
    return { file, journal };
  }

  function mended(): void {
    Object.assign(fs, { writeSync, ftruncateSync });
    syncBuiltinESMExports();
  }

  it('[REL-033] cuts it off, and writes the next in its place', () => {
    const { file, journal } = begun();
    const { size } = statSync(file);
    expect(journal.write(commit('"lost"'), 2)).toBe(false);
    expect([statSync(file).size, journal.entries.length]).toEqual([size, 1]);
    mended();
    expect([journal.accepts(commit('"next"')), journal.write(commit('"next"'), 2)]).toEqual([true, true]);
    const found = readJournal(file);
    expect([found?.end, found?.first, found?.entries.map(({ seq, action }) => [seq, action])]).toEqual([
      ...['whole', 1],
      [
        [1, '"first"'],
        [2, '"next"'],
      ],
    ]);
  });

  it('[REL-031] takes nothing more behind one that it cannot cut off, not even when it was emptied', () => {
    const { file, journal } = begun();
    failing('ftruncateSync');
    expect(journal.write(commit('"lost"'), 2)).toBe(false);
    fs.writeSync = writeSync;
    syncBuiltinESMExports();
    expect([journal.accepts(commit('"next"')), journal.entries.length]).toEqual([false, 1]);
    expect(readJournal(file)).toMatchObject({ end: 'unfinished', entries: [{ seq: 1 }] });
    mended();
    journal.emptied('other');
    expect([journal.accepts(commit('"next"')), journal.isEmpty]).toEqual([false, true]);
  });

  it('[REL-031] takes nothing more when it could not be emptied', () => {
    const { journal } = begun();
    mended();
    failing('ftruncateSync');
    journal.emptied('other');
    mended();
    expect([journal.accepts(commit('"next"')), journal.isEmpty, journal.salt]).toEqual([false, true, 'other']);
  });
});

function failing(...names: ('fdatasyncSync' | 'ftruncateSync')[]): void {
  for (const name of names) {
    fs[name] = () => {
      throw Object.assign(new Error('EIO'), { code: 'EIO' });
    };
  }
  syncBuiltinESMExports();
}

const emptyArchive = { channel: TURNS_CHANNEL, head: '{}', turns: { start: 0, items: [] } };

function appendWithArchive(log: SqliteLog, durability: 'normal' | 'full' = 'normal') {
  return log.append({ entries: [sampleEntry(log.head + 1)], archives: [emptyArchive], durability });
}

describe.each(drivers)('a log on a disk that fails ($name)', (driver) => {
  it('[REL-095] knows the line that it could neither sync nor cut off', async () => {
    const dataDir = dataFolder();
    const log = await openLog(dataDir, { driver });
    await appendSamples(log, 1, 'full');
    failing('fdatasyncSync', 'ftruncateSync');
    await appendSamples(log, 1, 'full');
    expect(readFileSync(journalOf(dataDir), 'utf8')).not.toBe('');
    const again = await openLog(copyOf(dataDir), { driver });
    expect([again.head, again.repairs]).toEqual([2, []]);
    expect(await again.read({ after: 0 })).toEqual(sampleEntries(1, 2));
  });

  it('[REL-031] knows the lines that it could not cut off, also behind a synced transaction', async () => {
    const dataDir = dataFolder();
    const log = await openLog(dataDir, { driver });
    await appendSamples(log, 1);
    failing('ftruncateSync');
    await appendWithArchive(log);
    await appendSamples(log, 1, 'full');
    expect(readFileSync(journalOf(dataDir), 'utf8')).not.toBe('');
    const again = await openLog(copyOf(dataDir), { driver });
    expect([again.head, again.repairs]).toEqual([3, []]);
    expect(await again.read({ after: 0 })).toEqual(sampleEntries(1, 3));
  });

  it('[REL-095] loses nothing to a refused transaction that is in the file all the same', async () => {
    const dataDir = dataFolder();
    let refuses = false;
    const log = await openLog(dataDir, { driver: commitRefusingDriver(driver, () => refuses) });
    await appendSamples(log, 1, 'full');
    const refused = refusedTransaction(driver, dataDir);
    refuses = true;
    await expect(appendWithArchive(log, 'full')).rejects.toMatchObject({ reason: 'failed' });
    refuses = false;
    await appendSamples(log, 1, 'full');
    await appendSamples(log, 1);
    const killed = copyOf(dataDir);
    const written = readFileSync(walOf(killed));
    writeFileSync(walOf(killed), Buffer.concat([written, refused.subarray(written.length)]));
    rmSync(path.join(killed, 'atrium.db-shm'), { force: true });
    const again = await openLog(killed, { driver });
    expect(await again.read({ after: 0 })).toEqual(sampleEntries(1, 3));
  });
});

const walOf = (dataDir: string) => path.join(dataDir, 'atrium.db-wal');

/** The write-ahead file as a transaction leaves it that is written, and refused because it could not be synced. */
function refusedTransaction(driver: SqliteDriver, dataDir: string): Buffer {
  const copy = copyOf(dataDir);
  rmSync(path.join(copy, 'atrium.db-shm'), { force: true });
  const before = readFileSync(walOf(copy));
  const db = driver.open(path.join(copy, 'atrium.db'));
  db.exec(`INSERT INTO entries (seq, channel, time, action) VALUES (2, 'ahp-session:/refused', 2, '{}')`);
  const written = readFileSync(walOf(copy));
  db.close();
  expect(written.subarray(0, before.length)).toEqual(before);
  expect(written.length).toBeGreaterThan(before.length);
  return written;
}

/** Fails with the last step of a transaction, as SQLite does when it cannot sync. */
function commitRefusingDriver(driver: SqliteDriver, refuses: () => boolean): SqliteDriver {
  return {
    name: driver.name,
    open(file) {
      const db = driver.open(file);
      const transaction: typeof db.transaction = (work) => {
        if (!refuses()) return db.transaction(work);
        db.exec('BEGIN IMMEDIATE');
        work();
        db.exec('ROLLBACK');
        throw new SqliteError('disk I/O error', IO_ERROR, {});
      };
      return { ...db, transaction };
    },
  };
}

/** Makes some commit. True: a power cut may not undo it. */
async function change({ log, clock }: Disk, kind: number): Promise<boolean> {
  if (kind <= 1) await appendSamples(log, 1);
  else if (kind <= 4) await appendSamples(log, 1, 'full');
  else if (kind === 5) await appendSamples(log, JOURNAL_COMMIT_MAX_ENTRIES + 1);
  else if (kind === 6) await clock.advance(FOLD_AFTER_MS);
  else await appendWithArchive(log);
  return kind > 1 && kind <= 4;
}

/** A data folder, and what of it a power cut leaves in any case. */
class Disk {
  syncs = 0;
  #database: string;
  #journal = '';

  /** The folder of a log that was closed in order, so that nothing of its last opening has been synced. */
  static async begin(driver: SqliteDriver): Promise<Disk> {
    const dataDir = dataFolder();
    const first = await openLog(dataDir, { driver });
    await appendSamples(first, 3);
    await first.close();
    const database = copyOf(dataDir);
    const clock = new FakeClock();
    let synced = () => {};
    const log = await openSqliteLog({ dataDir, clock, driver: syncWatchingDriver(driver, () => synced()) });
    const disk = new Disk(dataDir, log, clock, database);
    synced = () => {
      disk.#database = copyOf(dataDir);
    };
    return disk;
  }

  private constructor(
    readonly dataDir: string,
    readonly log: SqliteLog,
    readonly clock: FakeClock,
    database: string,
  ) {
    this.#database = database;
    fs.fdatasyncSync = (file) => {
      fdatasyncSync(file);
      this.syncs += 1;
      this.#journal = this.#written();
    };
    syncBuiltinESMExports();
  }

  #written(): string {
    return existsSync(journalOf(this.dataDir)) ? readFileSync(journalOf(this.dataDir), 'utf8') : '';
  }

  /** Folders as they may be found when the power is back. */
  survivors(random: Random): string[] {
    const written = this.#written();
    const isLonger = written.length > this.#journal.length && written.startsWith(this.#journal);
    const cut = this.#journal.length + random.below(Math.max(1, written.length - this.#journal.length));
    const journals = [this.#journal, written, ...(isLonger ? [written.slice(0, cut)] : [])];
    const databases = [this.#database, this.dataDir];
    const journal = journals[random.below(journals.length)] ?? '';
    return databases.map((database) => survivorOf(database, journal));
  }
}

function survivorOf(database: string, journal: string): string {
  const folder = dataFolder();
  for (const name of readdirSync(database)) if (name.startsWith('atrium.db')) copyInto(folder, database, name);
  // SQLite makes it anew.
  rmSync(path.join(folder, 'atrium.db-shm'), { force: true });
  if (journal !== '') writeFileSync(journalOf(folder), journal);
  writeFileSync(path.join(folder, 'atrium.owner'), JSON.stringify({ at: 'open', pid: 1, boot: 'an earlier one' }));
  return folder;
}

function copyInto(folder: string, from: string, name: string): void {
  cpSync(path.join(from, name), path.join(folder, name));
}

/** Calls back behind every synced transaction: the log goes back to `NORMAL` then. */
function syncWatchingDriver(driver: SqliteDriver, synced: () => void): SqliteDriver {
  return {
    name: driver.name,
    open(file) {
      const db = driver.open(file);
      let isSynced = false;
      const exec = (sql: string) => {
        db.exec(sql);
        if (isSynced && sql === 'PRAGMA synchronous = NORMAL') synced();
        isSynced = sql === 'PRAGMA synchronous = FULL';
      };
      return { ...db, exec };
    },
  };
}
