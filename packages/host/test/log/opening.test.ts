/** Opening a data folder, step by step: what stands in it, what is made of it, and what is told about that. */

import fs, {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { uptime } from 'node:os';
import path from 'node:path';
import { LogLockedError, LogOpenError } from '@atrium/core/log/log.js';
import { silentLogger } from '@atrium/core/util/logger.js';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Damage, damagedTurn, fits, sumOf } from '../../src/log-sqlite/damage.js';
import { type Database, loadDriver, SQLITE, type SqliteDriver, SqliteError } from '../../src/log-sqlite/driver.js';
import { currentBoot, holderOf, prepareFolder, sameBoot, takeLock } from '../../src/log-sqlite/folder.js';
import { openFile } from '../../src/log-sqlite/open.js';
import { nameAside, repairDatabase, resumeRepair } from '../../src/log-sqlite/repair.js';
import { dataFolder } from '../support/log-folders.js';

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5, 6);
const TIME = '20260102T030405006Z';
const TURN = JSON.stringify({ id: 't', text: 'said' });
let driver: SqliteDriver;

beforeAll(async () => {
  driver = await loadDriver();
});

const databaseIn = (dataDir: string) => path.join(dataDir, 'atrium.db');
const noteIn = (dataDir: string) => JSON.parse(readFileSync(path.join(dataDir, 'atrium.owner'), 'utf8'));
const putNote = (dataDir: string, note: unknown) =>
  writeFileSync(path.join(dataDir, 'atrium.owner'), typeof note === 'string' ? note : JSON.stringify(note));
const open = (dataDir: string) => openFile({ dataDir, driver, now: NOW, logger: silentLogger });

function rows(db: Database, sql: string): unknown[] {
  return db
    .prepare<{ value: unknown }>(sql)
    .all()
    .map(({ value }) => value);
}

/** A folder with a few rows in its database, closed in order. */
function filled(): string {
  const dataDir = dataFolder();
  const { db, close } = open(dataDir);
  for (const [index, id] of ['a', 'b', 'c'].entries())
    db.exec(`INSERT INTO turns (channel, idx, id, json) VALUES ('s', ${index}, '${id}', '${TURN}')`);
  db.exec(`INSERT INTO archives (channel, seq, head, turn_count) VALUES ('s', 0, '{}', 3)`);
  close();
  return dataDir;
}

describe('a name for damaged bytes', () => {
  it('[REL-032] says when, and is never one that is taken', () => {
    const file = path.join(dataFolder(), 'x');
    const names = ['', '-2', '-3'].map((end) => `${file}.corrupt-${TIME}${end}`);
    for (const name of names) {
      expect(nameAside(file, NOW)).toBe(name);
      writeFileSync(name, '');
    }
  });
});

describe('damage that a read finds', () => {
  function setUp(write: (work: () => void) => void = (work) => work()) {
    const file = path.join(dataFolder(), 'folder', 'atrium.db');
    mkdirSync(path.dirname(file));
    let now = NOW - 1;
    const clock = {
      now: () => {
        now += 1;
        return now;
      },
    };
    const damage = new Damage({ path: file, clock, repairs: [{ message: 'before' }], write });
    const heard: unknown[] = [];
    damage.onRepair((repair) => heard.push(repair));
    damage.onRepair((repair) => heard.push(repair));
    return { file, damage, heard };
  }
  const text = { what: 'turn t', instead: 'a placeholder stands there', hex: Buffer.from('bytes').toString('hex') };

  it('[REL-064] keeps the bytes in a file for the owner, and tells everybody', () => {
    const { file, damage, heard } = setUp();
    damage.found(text);
    const keptAt = `${file}.corrupt-${TIME}`;
    expect(readFileSync(keptAt, 'utf8')).toBe('bytes');
    expect(statSync(keptAt).mode & 0o777).toBe(0o600);
    const repair = { message: expect.stringContaining('turn t was damaged'), keptAt };
    expect(damage.repairs).toEqual([{ message: 'before' }, repair]);
    expect(heard).toEqual([repair, repair]);
  });

  it('[REL-064] fills no disk: after 1,000 files it is only told', () => {
    const { file, damage } = setUp();
    // Most files cannot be written here, which counts as well and takes no time.
    rmSync(path.dirname(file), { recursive: true });
    for (let count = 0; count < 999; count += 1) damage.found(text);
    mkdirSync(path.dirname(file));
    damage.found(text);
    damage.found(text);
    expect(readdirSync(path.dirname(file))).toHaveLength(1);
    expect(damage.repairs).toHaveLength(1_002);
    expect(damage.repairs.slice(-2).map(({ keptAt }) => keptAt !== undefined)).toEqual([true, false]);
    expect(Object.keys(damage.repairs.at(-1) ?? {})).toEqual(['message']);
  });

  it('[REL-064] is told also when the bytes cannot be kept, or the row cannot be replaced', () => {
    const { file, damage } = setUp(() => {
      throw new Error('the disk is full');
    });
    rmSync(path.dirname(file), { recursive: true });
    damage.found(text);
    expect(Object.keys(damage.repairs.at(-1) ?? {})).toEqual(['message']);
    expect(() => damage.repair(() => {})).not.toThrow();
  });

  it('[REL-064] is a sum that does not fit the text or its key; older rows have none', () => {
    const sum = sumOf('key', 'text');
    expect([fits(sum, 'key', 'text'), fits(null, 'key', 'text')]).toEqual([true, true]);
    expect([fits(sum, 'key', 'texT'), fits(sum, 'other', 'text'), fits(sum, 'keyt', 'ext')]).toEqual([
      ...[false, false, true],
    ]);
    expect(sumOf('key\0more', 'text')).toBe(sum);
    expect(sumOf('\0', 'text')).toBe(sumOf('', 'text'));
  });

  it('[REL-063] leaves a turn that says so, under its id', () => {
    expect(JSON.parse(damagedTurn('t'))).toMatchObject({
      id: 't',
      state: 'error',
      responseParts: [{ kind: 'error', error: { errorType: 'damaged', message: expect.stringContaining('damaged') } }],
      message: { text: expect.stringContaining('damaged') },
    });
  });
});

describe('the note of the owner', () => {
  it('[REL-033] says who has the folder, and how it was left', () => {
    const dataDir = dataFolder();
    const first = takeLock(dataDir, driver);
    expect([first.previous, first.machineRestarted]).toEqual([undefined, false]);
    expect(noteIn(dataDir)).toMatchObject({ at: 'open', pid: process.pid, boot: expect.any(String) });
    first.release({ at: 'closed', stamp: 'x' });
    const second = takeLock(dataDir, driver);
    expect([second.previous, second.machineRestarted]).toEqual([{ at: 'closed', stamp: 'x' }, false]);
    second.release();
    expect(holderOf(noteIn(dataDir))).toBe(process.pid);
    expect(holderOf({ at: 'closed', stamp: 'x' })).toBeUndefined();
    expect(existsSync(path.join(dataDir, 'atrium.owner.new'))).toBe(false);
  });

  it('[REL-016] tells when the machine has stopped meanwhile, until the database is whole again', () => {
    const dataDir = dataFolder();
    putNote(dataDir, { at: 'open', pid: 1, boot: 'another' });
    const first = takeLock(dataDir, driver);
    expect(first.machineRestarted).toBe(true);
    expect(noteIn(dataDir).boot).toBe('another');
    first.settle();
    const { boot } = noteIn(dataDir);
    expect(boot).not.toBe('another');
    first.release();
    const second = takeLock(dataDir, driver);
    expect(second.machineRestarted).toBe(false);
    second.settle();
    expect(noteIn(dataDir).boot).toBe(boot);
    second.release();
  });

  it('[REL-016] tells runs of a machine apart by their ids, or by the time when they began', () => {
    const seconds = Date.now() / 1_000 - uptime();
    expect(Math.abs(Number(currentBoot('/nowhere/boot_id')) - seconds)).toBeLessThan(3);
    const same = ([a, b]: readonly [string, string]) => sameBoot(a, b);
    const equal = [
      ['id', 'id'],
      ['1000', '1059'],
      ['1059', '1000'],
    ] as const;
    const others = [
      ['id', 'other'],
      ['1000', '1060'],
      ['1060', '1000'],
    ] as const;
    expect([equal.map(same), others.map(same)]).toEqual([
      [true, true, true],
      [false, false, false],
    ]);
  });

  it.each([
    ...['', '{', 'null', '7', '{"at":"closed"}', '{"at":"open","pid":"1","boot":"b"}', '{"at":"open","pid":1}'],
    ...['{"at":"closed","stamp":1}', '{"at":"x","stamp":"s"}', '{"at":"x","pid":1,"boot":"b"}'],
  ])('[REL-033] that says %s is none', (text) => {
    const dataDir = dataFolder();
    putNote(dataDir, text);
    const lock = takeLock(dataDir, driver);
    expect(lock.previous).toBeUndefined();
    lock.releaseUnchanged();
    expect(existsSync(path.join(dataDir, 'atrium.owner'))).toBe(false);
  });

  it('[REL-016] is synced with its folder before anything else, and need not be when the folder is left', () => {
    const { fsyncSync } = fs;
    let syncs = 0;
    fs.fsyncSync = (file) => {
      syncs += 1;
      fsyncSync(file);
    };
    syncBuiltinESMExports();
    onTestFinished(() => {
      fs.fsyncSync = fsyncSync;
      syncBuiltinESMExports();
    });
    const dataDir = dataFolder();
    const lock = takeLock(dataDir, driver);
    expect(syncs).toBe(2);
    lock.settle();
    lock.release({ at: 'closed', stamp: 'x' });
    takeLock(dataDir, driver).releaseUnchanged();
    expect([syncs, noteIn(dataDir)]).toEqual([4, { at: 'closed', stamp: 'x' }]);
    expect(existsSync(path.join(dataDir, 'atrium.owner.new'))).toBe(false);
  });

  it('[REL-033] is as it was when the folder could not be opened', () => {
    const dataDir = dataFolder();
    const note = { at: 'closed', stamp: 'x' };
    putNote(dataDir, note);
    takeLock(dataDir, driver).releaseUnchanged();
    expect(noteIn(dataDir)).toEqual(note);
  });

  it('[REL-067] is written again with the lock, when that was deleted', () => {
    const dataDir = dataFolder();
    const lock = takeLock(dataDir, driver);
    expect(lock.renew()).toBe('held');
    rmSync(path.join(dataDir, 'atrium.lock'));
    rmSync(path.join(dataDir, 'atrium.owner'));
    expect(lock.renew()).toBe('renewed');
    expect(holderOf(noteIn(dataDir))).toBe(process.pid);
    expect(lock.renew()).toBe('held');
    lock.release();
  });

  it('[REL-033] is given up when it cannot be written', () => {
    const dataDir = dataFolder();
    const lock = takeLock(dataDir, driver);
    renameSync(dataDir, `${dataDir}-moved`);
    expect(() => lock.release({ at: 'closed', stamp: 'x' })).not.toThrow();
    renameSync(`${dataDir}-moved`, dataDir);
    expect(holderOf(noteIn(dataDir))).toBe(process.pid);
    rmSync(path.join(dataDir, 'atrium.owner'));
    const next = takeLock(dataDir, driver);
    renameSync(dataDir, `${dataDir}-moved`);
    expect(() => next.releaseUnchanged()).not.toThrow();
    renameSync(`${dataDir}-moved`, dataDir);
  });

  it.skipIf(process.platform === 'win32')('[REL-033] stands in a folder for its owner only', () => {
    const dataDir = path.join(dataFolder(), 'deep', 'data');
    prepareFolder(dataDir);
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    prepareFolder(dataDir);
    writeFileSync(path.join(dataDir, 'file'), '');
    expect(() => prepareFolder(path.join(dataDir, 'file'))).toThrow(
      expect.objectContaining({ reason: 'not-a-folder' }),
    );
  });

  it('[REL-033] keeps others out, and names who is in', () => {
    const dataDir = dataFolder();
    const lock = takeLock(dataDir, driver);
    putNote(dataDir, { at: 'open', pid: 7, boot: 'b' });
    expect(() => takeLock(dataDir, driver)).toThrow(LogLockedError);
    expect(() => takeLock(dataDir, driver)).toThrow(/\b7\b/);
    lock.release();
  });
});

describe('a folder that is opened', () => {
  it('[REL-032] begins a new log, and keeps a write-ahead file that stood there alone', () => {
    const dataDir = dataFolder();
    writeFileSync(`${databaseIn(dataDir)}-wal`, 'stray');
    const { repairs, close, path: file } = open(dataDir);
    close();
    expect(file).toBe(databaseIn(dataDir));
    const keptAt = `${databaseIn(dataDir)}-wal.corrupt-${TIME}`;
    expect(repairs).toEqual([{ message: expect.stringContaining('stood alone'), keptAt }]);
    expect(readFileSync(keptAt, 'utf8')).toBe('stray');
    expect(open(dataFolder()).repairs).toEqual([]);
  });

  it('is one file when it is closed, and is not checked again while that file is the same', () => {
    const dataDir = filled();
    expect(readdirSync(dataDir).sort()).toEqual(['atrium.db', 'atrium.lock', 'atrium.owner']);
    const note = noteIn(dataDir);
    expect(note).toMatchObject({ at: 'closed', stamp: expect.stringMatching(/^\d+ \d+$/) });
    // Damage behind an unchanged stamp stays unseen: the file was not read.
    const bytes = readFileSync(databaseIn(dataDir));
    bytes.fill(0xff, bytes.indexOf(TURN) - 4, bytes.indexOf(TURN) + 4);
    writeFileSync(databaseIn(dataDir), bytes);
    const { size, mtimeNs } = statSync(databaseIn(dataDir), { bigint: true });
    putNote(dataDir, { at: 'closed', stamp: `${size} ${mtimeNs}` });
    const unread = open(dataDir);
    expect(unread.repairs).toEqual([]);
    unread.close();
  });

  it('[REL-032] is rebuilt when its check fails, and says what was saved', () => {
    const dataDir = filled();
    const bytes = readFileSync(databaseIn(dataDir));
    const at = bytes.indexOf(TURN);
    bytes.write('xx', at, 'latin1');
    writeFileSync(databaseIn(dataDir), bytes);
    putNote(dataDir, { at: 'closed', stamp: 'another' });
    const { db, repairs, close } = open(dataDir);
    expect(repairs).toEqual([
      { message: expect.stringMatching(/was damaged .*; .*turn/), keptAt: expect.any(String), isRebuilt: true },
    ]);
    const turns = rows(db, 'SELECT json AS value FROM turns ORDER BY idx').map((json) => JSON.parse(String(json)));
    expect(turns).toHaveLength(3);
    expect(turns.filter(({ text }) => text === 'said')).toHaveLength(2);
    const [lost] = turns.filter(({ responseParts: [part] = [] }) => part?.error?.errorType === 'damaged');
    expect(lost.id).toBe(`damaged-${turns.indexOf(lost)}`);
    close();
    expect(existsSync(`${databaseIn(dataDir)}.repairing`)).toBe(false);
  });

  it('[REL-032] loses no row on another page than the damaged one', () => {
    const dataDir = dataFolder();
    const { db, close } = open(dataDir);
    const text = (index: number) => JSON.stringify({ id: `t${index}`, text: `<${index}>`.padEnd(3_000, 'x') });
    for (let index = 0; index < 40; index++)
      db.exec(`INSERT INTO turns (channel, idx, id, json) VALUES ('s', ${index}, 't${index}', '${text(index)}')`);
    db.exec(`INSERT INTO archives (channel, seq, head, turn_count) VALUES ('s', 0, '{}', 40)`);
    close();
    const bytes = readFileSync(databaseIn(dataDir));
    const page = Math.floor(bytes.indexOf('"<25>x') / 4_096) * 4_096;
    bytes.fill(0, page, page + 4_096);
    writeFileSync(databaseIn(dataDir), bytes);
    putNote(dataDir, 'none');
    const again = open(dataDir);
    const kept = rows(again.db, 'SELECT json AS value FROM turns ORDER BY idx').map(String);
    expect(kept).toHaveLength(40);
    const lost = kept.flatMap((json, index) => (json === text(index) ? [] : index));
    expect(lost).toContain(25);
    expect(lost.length).toBeLessThanOrEqual(2);
    again.close();
  });

  it.each([
    ['was empty', (file: string) => writeFileSync(file, '')],
    ['ended inside a page', (file: string) => writeFileSync(file, readFileSync(file).subarray(0, -7))],
  ])('[REL-032] is rebuilt when its database %s', (words, spoil) => {
    const dataDir = filled();
    spoil(databaseIn(dataDir));
    putNote(dataDir, 'none');
    const { repairs, close } = open(dataDir);
    expect(repairs).toEqual([{ message: expect.stringContaining(words), keptAt: expect.any(String), isRebuilt: true }]);
    close();
  });

  it('[REL-032] keeps the write-ahead file beside a database that became empty, and everything in it', () => {
    const dataDir = dataFolder();
    const living = open(dataDir);
    living.db.exec(`INSERT INTO turns (channel, idx, id, json) VALUES ('s', 0, 'a', '${TURN}')`);
    const wal = readFileSync(`${databaseIn(dataDir)}-wal`);
    const killed = dataFolder();
    writeFileSync(databaseIn(killed), '');
    writeFileSync(`${databaseIn(killed)}-wal`, wal);
    const { db, repairs, close } = open(killed);
    expect(readFileSync(`${repairs[0]?.keptAt}-wal`).equals(wal)).toBe(true);
    expect(rows(db, 'SELECT json AS value FROM turns')).toEqual([TURN]);
    close();
    living.close();
  });

  it('[REL-016] says that entries may be missing when the machine stopped, and nothing else is wrong', () => {
    const dataDir = filled();
    putNote(dataDir, { at: 'open', pid: 1, boot: 'another' });
    const { repairs, close } = open(dataDir);
    expect(repairs).toEqual([{ message: expect.stringContaining('the machine stopped') }]);
    close();
  });

  it('[REL-033] is left as it was when it cannot be opened, with a reason and a remedy', () => {
    const failing = (error: unknown): SqliteDriver => ({
      ...driver,
      open: (file) => {
        if (file.endsWith('.lock')) return driver.open(file);
        throw error;
      },
    });
    const dataDir = filled();
    const note = noteIn(dataDir);
    const tried = (error: unknown) => {
      try {
        openFile({ dataDir, driver: failing(error), now: NOW, logger: silentLogger });
        return undefined;
      } catch (thrown) {
        return thrown;
      }
    };
    const full = new SqliteError('full', SQLITE.full, {});
    expect(tried(full)).toMatchObject({ reason: 'disk-full', cause: full });
    expect(tried(Object.assign(new Error('x'), { code: 'ENOSPC' }))).toMatchObject({ reason: 'disk-full' });
    const broken = Object.assign(new Error('x'), { code: 'EIO' });
    expect(tried(broken)).toMatchObject({ reason: 'failed', cause: broken });
    expect(tried(Object.assign(new Error('x'), { code: 'EIO' }))).toBeInstanceOf(LogOpenError);
    const plain = new Error('a mistake of ours');
    expect(tried(plain)).toBe(plain);
    expect(noteIn(dataDir)).toEqual(note);
  });
});

describe('a repair that was interrupted', () => {
  const context = (database: string) => ({ driver, database, now: NOW });

  it('[REL-032] is finished at the next opening, from wherever it was', () => {
    const dataDir = filled();
    const database = databaseIn(dataDir);
    const keptAt = `${database}.corrupt-x`;
    writeFileSync(`${database}.repairing`, path.basename(keptAt));
    expect(resumeRepair(context(database))).toEqual({
      message: expect.stringContaining('was being repaired'),
      keptAt,
      isRebuilt: true,
    });
    expect([existsSync(keptAt), existsSync(database), existsSync(`${database}.repairing`)]).toEqual([
      true,
      true,
      false,
    ]);
    expect(resumeRepair(context(database))).toBeUndefined();
    // Once more, with everything moved but nothing rebuilt.
    rmSync(database);
    writeFileSync(`${database}.repairing`, path.basename(keptAt));
    resumeRepair(context(database));
    expect(existsSync(database)).toBe(true);
    // And with the new file in its place, which stays.
    const { ino } = statSync(database);
    writeFileSync(`${database}.repairing`, path.basename(keptAt));
    resumeRepair(context(database));
    expect(statSync(database).ino).toBe(ino);
  });

  it('[REL-032] is reported by the opening that finishes it, with what was saved', () => {
    const dataDir = filled();
    const database = databaseIn(dataDir);
    writeFileSync(`${database}.repairing`, `${path.basename(database)}.corrupt-x`);
    const { repairs, close } = open(dataDir);
    close();
    const message = expect.stringMatching(/was being repaired .*; .*3 turns/);
    expect(repairs).toEqual([{ message, keptAt: `${database}.corrupt-x`, isRebuilt: true }]);
  });

  it.each(['ATTACH', 'INSERT INTO kept_turns', 'INSERT OR IGNORE INTO archives'])(
    '[REL-033] goes on once there is room, when the disk was full at %s',
    (statement) => {
      const dataDir = filled();
      const database = databaseIn(dataDir);
      const full: SqliteDriver = {
        ...driver,
        open: (file) => {
          const db = driver.open(file);
          const exec = (sql: string) => {
            if (sql.includes(statement)) throw new SqliteError('full', SQLITE.full, {});
            db.exec(sql);
          };
          return { ...db, exec };
        },
      };
      expect(() => repairDatabase({ driver: full, database, now: NOW }, 'was damaged')).toThrow('full');
      expect(statSync(`${database}.repairing`).mode & 0o777).toBe(0o600);
      const { db, close } = open(dataDir);
      expect(rows(db, 'SELECT json AS value FROM turns')).toEqual([TURN, TURN, TURN]);
      close();
    },
  );

  it.each(['', 'atrium.db.corr', 'other.corrupt-x', 'atrium.db.corrupt-x/../../y'])(
    '[REL-032] is forgotten when it had not begun: %j',
    (text) => {
      const dataDir = filled();
      const database = databaseIn(dataDir);
      const { ino } = statSync(database);
      writeFileSync(`${database}.repairing`, text);
      expect(resumeRepair(context(database))).toBeUndefined();
      expect([statSync(database).ino, existsSync(`${database}.repairing`)]).toEqual([ino, false]);
    },
  );

  it('[REL-032] moves all parts of a database aside, and leaves no drafts', () => {
    const dataDir = filled();
    const database = databaseIn(dataDir);
    writeFileSync(`${database}-wal`, 'wal');
    writeFileSync(`${database}-journal`, 'journal');
    const { keptAt, isRebuilt } = repairDatabase(context(database), 'was damaged');
    expect([keptAt, isRebuilt]).toEqual([`${database}.corrupt-${TIME}`, true]);
    expect(readFileSync(`${keptAt}-journal`, 'utf8')).toBe('journal');
    expect(readFileSync(`${keptAt}-wal`, 'utf8')).toBe('wal');
    const others = readdirSync(dataDir).filter((name) => !name.includes('.corrupt-'));
    expect(others.sort()).toEqual(['atrium.db', 'atrium.lock', 'atrium.owner']);
    renameSync(database, `${database}.x`);
  });
});
