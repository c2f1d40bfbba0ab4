import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { LogLockedError, LogOpenError } from '@atrium/core/log/log.js';
import { describe, expect, it } from 'vitest';
import { loadDriver } from '../../src/log-sqlite/driver.js';
import { withDatabase } from '../../src/log-sqlite/schema.js';
import { LOCK_CHECK_MS, openSqliteLog } from '../../src/log-sqlite/sqlite-log.js';
import { FakeClock } from '../support/fake-clock.js';
import { Appender } from '../support/log-child.js';
import { databaseOf, killedFolder } from '../support/log-damage.js';
import { copyOf, dataFolder, drivers, openLog } from '../support/log-folders.js';
import { appendSamples, sampleEntry } from '../support/log-samples.js';

const onWindows = process.platform === 'win32';
/** Nothing is read-only to root. */
const isRoot = process.getuid?.() === 0;

describe('the data folder', () => {
  it.skipIf(onWindows)('is made for its owner only', async () => {
    const dataDir = path.join(dataFolder(), 'deep', 'data');
    const log = await openLog(dataDir);
    await appendSamples(log, 1);
    const mode = (name: string): number => statSync(path.join(dataDir, name)).mode & 0o777;
    expect(mode('.')).toBe(0o700);
    for (const name of ['atrium.db', 'atrium.db-wal', 'atrium.lock', 'atrium.owner']) expect(mode(name)).toBe(0o600);
  });

  it('[REL-033] refuses a database file that was replaced by a symbolic link', async () => {
    const dataDir = dataFolder();
    const target = path.join(dataFolder(), 'elsewhere.db');
    writeFileSync(target, 'precious');
    symlinkSync(target, databaseOf(dataDir));
    await expect(openSqliteLog({ dataDir })).rejects.toMatchObject({
      name: 'LogOpenError',
      reason: 'symlink',
      message: expect.stringContaining('elsewhere.db'),
    });
    expect(readFileSync(target, 'utf8')).toBe('precious');
  });

  it.skipIf(isRoot || onWindows)(
    '[REL-033] refuses a read-only folder (skipped: root may write anywhere)',
    async () => {
      const dataDir = dataFolder();
      chmodSync(dataDir, 0o500);
      await expect(openSqliteLog({ dataDir })).rejects.toMatchObject({ name: 'LogOpenError', reason: 'not-writable' });
    },
  );

  it('refuses a file where the folder should be, and a folder where the file should be', async () => {
    const dataDir = dataFolder();
    const file = path.join(dataDir, 'file');
    writeFileSync(file, '');
    await expect(openSqliteLog({ dataDir: file })).rejects.toMatchObject({ reason: 'not-a-folder' });
    const below = openSqliteLog({ dataDir: path.join(file, 'below') });
    await expect(below).rejects.toMatchObject({ name: 'LogOpenError', reason: 'not-writable' });
    mkdirSync(databaseOf(dataDir));
    await expect(openSqliteLog({ dataDir })).rejects.toMatchObject({ reason: 'not-a-file' });
  });

  it.each(drivers)('leaves the database of another program alone ($name)', async (driver) => {
    const dataDir = dataFolder();
    const db = driver.open(databaseOf(dataDir));
    db.exec('CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)');
    db.close();
    const before = readFileSync(databaseOf(dataDir));
    await expect(openSqliteLog({ dataDir, driver })).rejects.toMatchObject({ reason: 'foreign' });
    expect(readFileSync(databaseOf(dataDir)).equals(before)).toBe(true);
  });

  it('refuses a database of a later version', async () => {
    const dataDir = dataFolder();
    await (await openLog(dataDir)).close();
    const [driver] = drivers;
    const db = driver?.open(databaseOf(dataDir));
    db?.exec('PRAGMA user_version = 99');
    db?.close();
    await expect(openSqliteLog({ dataDir })).rejects.toBeInstanceOf(LogOpenError);
  });
});

/** A third entry, by a program that does not ask for the lock. */
async function writeBeside(dataDir: string): Promise<void> {
  withDatabase(await loadDriver(), databaseOf(dataDir), (db) =>
    db.exec(`INSERT INTO entries SELECT 3, channel, time, action, NULL, NULL, NULL, NULL FROM entries WHERE seq = 2`),
  );
}

describe('the lock on the data folder', () => {
  it('[REL-033] names the living process that holds it, and is free once that one is killed', async () => {
    const dataDir = dataFolder();
    const holder = await Appender.start(dataDir, 1);
    const refused = openSqliteLog({ dataDir });
    await expect(refused).rejects.toBeInstanceOf(LogLockedError);
    await expect(refused).rejects.toMatchObject({ pid: holder.pid, message: expect.stringContaining(`${holder.pid}`) });
    await holder.kill();
    expect((await openLog(dataDir)).head).toBeGreaterThanOrEqual(holder.reported);
  });

  it('[REL-033] is not held by a stranger that has the number of a dead holder', async () => {
    const dataDir = await killedFolder();
    const note = JSON.parse(readFileSync(path.join(dataDir, 'atrium.owner'), 'utf8')) as object;
    writeFileSync(path.join(dataDir, 'atrium.owner'), JSON.stringify({ ...note, pid: process.ppid }));
    expect((await openLog(dataDir)).repairs).toEqual([]);
  });

  it('also keeps a process from opening a folder twice, and leaves the first as it was', async () => {
    const dataDir = dataFolder();
    const log = await openLog(dataDir);
    for (let attempt = 0; attempt < 2; attempt++) {
      await expect(openSqliteLog({ dataDir })).rejects.toMatchObject({ name: 'LogLockedError', pid: process.pid });
    }
    await appendSamples(log, 3);
    await log.close();
    expect((await openLog(dataDir)).head).toBe(3);
  });

  it.each([['atrium.lock'], ['atrium.lock', 'atrium.owner']])(
    '[REL-067] keeps a second process out when somebody deleted %s, and leaves the first unharmed',
    async (...names) => {
      const dataDir = dataFolder();
      const holder = await Appender.start(dataDir, 1);
      await expect.poll(() => holder.reported).toBeGreaterThan(100);
      for (let attempt = 0; attempt < 3; attempt++) {
        for (const name of names) rmSync(path.join(dataDir, name), { force: true });
        const refused = openSqliteLog({ dataDir });
        await expect(refused).rejects.toMatchObject({
          name: 'LogLockedError',
          pid: names.includes('atrium.owner') ? undefined : holder.pid,
        });
        const { reported } = holder;
        await expect.poll(() => holder.reported).toBeGreaterThan(reported);
      }
      await holder.kill();
      expect((await openLog(dataDir)).head).toBeGreaterThanOrEqual(holder.reported);
    },
  );

  it('[REL-067] is taken again by the first when somebody deleted it', async () => {
    const dataDir = dataFolder();
    const clock = new FakeClock();
    const lines: string[] = [];
    const log = await openLog(dataDir, { clock, logger: { log: (_, text) => lines.push(text) } });
    rmSync(path.join(dataDir, 'atrium.lock'));
    await appendSamples(log, 1);
    expect(lines).toEqual([]);
    await clock.advance(LOCK_CHECK_MS);
    await appendSamples(log, 1);
    expect(lines).toEqual([expect.stringContaining('created it again')]);
    await expect(openSqliteLog({ dataDir })).rejects.toMatchObject({ name: 'LogLockedError', pid: process.pid });
    await appendSamples(log, 1);
  });

  it('[REL-067] that another process ignored fences the next commit, not an endless failure', async () => {
    const dataDir = dataFolder();
    const log = await openLog(dataDir);
    await appendSamples(log, 2, 'full');
    await writeBeside(dataDir);
    const late = log.append({ entries: [sampleEntry(3)], durability: 'normal' });
    await expect(late).rejects.toMatchObject({ kind: 'fenced', message: expect.stringContaining('at 3, not at 2') });
    expect(log.head).toBe(2);
  });

  it('[REL-067] that another process ignored keeps what was stored meanwhile, and no number of it is given again', async () => {
    const dataDir = dataFolder();
    const log = await openLog(dataDir);
    await appendSamples(log, 2, 'full');
    await appendSamples(log, 1);
    await writeBeside(dataDir);
    await appendSamples(log, 1);
    const late = log.append({ entries: [sampleEntry(5)], durability: 'full' });
    await expect(late).rejects.toMatchObject({ kind: 'fenced', message: expect.stringContaining('at 3, not at 2') });
    await log.close();
    const again = await openLog(copyOf(dataDir));
    expect(again.repairs).toMatchObject([{ message: expect.stringContaining('does not continue the database') }]);
    expect(readFileSync(again.repairs[0]?.keptAt ?? '', 'utf8')).toContain(sampleEntry(4).action);
    expect(again.head).toBeGreaterThan(1_000_000);
  });

  it('is given back when opening fails', async () => {
    const dataDir = dataFolder();
    const owner = path.join(dataDir, 'atrium.owner');
    const note = JSON.stringify({ at: 'closed', stamp: 'of another time' });
    writeFileSync(databaseOf(dataDir), 'SQLite format 3\0'.padEnd(4_096, 'x'));
    await expect(openSqliteLog({ dataDir })).rejects.toMatchObject({ reason: 'foreign' });
    expect(existsSync(owner)).toBe(false);
    writeFileSync(owner, note);
    await expect(openSqliteLog({ dataDir })).rejects.toMatchObject({ reason: 'foreign' });
    expect(readFileSync(owner, 'utf8').trim()).toBe(note);
    writeFileSync(databaseOf(dataDir), '');
    expect((await openLog(dataDir)).repairs).toHaveLength(1);
  });

  it('opens in spite of a note that makes no sense', async () => {
    const dataDir = await killedFolder();
    writeFileSync(path.join(dataDir, 'atrium.owner'), '{"at":"op');
    expect((await openLog(dataDir)).repairs).toEqual([]);
  });
});

describe('a machine that stopped while the log was open', () => {
  it('[REL-016] makes numbering go on above everything a client may have seen', async () => {
    const dataDir = await killedFolder();
    writeFileSync(path.join(dataDir, 'atrium.owner'), JSON.stringify({ at: 'open', pid: 1, boot: 'an earlier one' }));
    const log = await openLog(dataDir);
    expect(log.repairs).toHaveLength(1);
    expect(await log.read({ after: 0 })).toHaveLength(600);
    expect(log.head).toBeGreaterThanOrEqual(1_000_600);
    expect(log.oldest).toBe(log.head + 1);
    await appendSamples(log, 2);
    // Killed and opened once more on the same run of the machine: nothing is skipped again.
    const again = await openLog(copyOf(dataDir));
    expect([again.head, again.oldest, again.repairs]).toEqual([log.head, log.oldest, []]);
  });
});
