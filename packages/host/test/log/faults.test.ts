import { readdirSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { JOURNAL_MAX_CHARACTERS } from '../../src/log-sqlite/commit-journal.js';
import { type Database, SQLITE, SqliteError } from '../../src/log-sqlite/driver.js';
import { openSqliteLog } from '../../src/log-sqlite/sqlite-log.js';
import { closedFolder, databaseOf, ENTRIES, overwrite, zeros } from '../support/log-damage.js';
import { dyingDriver, spyingDriver } from '../support/log-drivers.js';
import { copyOf, dataFolder, drivers, openLog } from '../support/log-folders.js';
import { appendSamples, sampleEntries, sampleEntry } from '../support/log-samples.js';

describe.each(drivers)('a full disk ($name)', (driver) => {
  it('[REL-033] refuses the commit, stores nothing of it, and goes on once there is room', async () => {
    const dataDir = dataFolder();
    const databases: Database[] = [];
    const log = await openLog(dataDir, { driver: spyingDriver(driver, (_, db) => databases.push(db)) });
    const db = databases.at(-1);
    await appendSamples(log, 10);
    db?.exec('PRAGMA max_page_count = 1');

    const large = { ...sampleEntry(11), action: JSON.stringify('x'.repeat(JOURNAL_MAX_CHARACTERS)) };
    const commit = { entries: [large], records: [{ key: 'k', value: '1' }] };
    for (const durability of ['normal', 'full'] as const) {
      const refused = log.append({ ...commit, durability });
      await expect(refused).rejects.toMatchObject({ name: 'LogWriteError', reason: 'disk-full' });
    }
    expect([log.head, (await log.read({ after: 0 })).length, await log.record('k')]).toEqual([10, 10, undefined]);
    const killed = await openLog(copyOf(dataDir), { driver });
    expect([killed.head, await killed.record('k')]).toEqual([10, undefined]);

    db?.exec('PRAGMA max_page_count = 1000000');
    await appendSamples(log, 5, 'full');
    await log.close();
    const again = await openLog(dataDir, { driver });
    expect(await again.read({ after: 0 })).toEqual(sampleEntries(1, 15));
  });
});

describe.each(drivers)('a database that takes nothing ($name)', (driver) => {
  it.each([
    [SQLITE.full, 'disk-full', 'the disk is full'],
    [SQLITE.readOnly, 'failed', 'check its permissions'],
    [SQLITE.corrupt, 'damaged', 'restart the host'],
    [SQLITE.busy, 'failed', 'the reason of SQLite'],
  ])('[REL-033] says so with a reason and a remedy: code %i', async (code, reason, words) => {
    const databases: Database[] = [];
    const log = await openLog(dataFolder(), { driver: spyingDriver(driver, (_, db) => databases.push(db)) });
    await appendSamples(log, 1, 'full');
    const db = databases.at(-1) ?? expect.fail('no database was opened');
    const cause = new SqliteError('the reason of SQLite', code, {});
    const { transaction } = db;
    const failing = () => {
      throw cause;
    };
    Object.assign(db, { transaction: failing });
    // An archive goes past the journal.
    const archives = [{ channel: 'c', head: '{}', turns: { start: 0, items: [] } }];
    const refused = log.append({ entries: [sampleEntry(2)], archives, durability: 'full' });
    const message = expect.stringContaining(words);
    await expect(refused).rejects.toMatchObject({ name: 'LogWriteError', kind: 'refused', reason, message, cause });
    Object.assign(db, { transaction });
    await appendSamples(log, 1, 'full');
    expect(await log.read({ after: 0 })).toEqual(sampleEntries(1, 2));
  });
});

describe.each(drivers)('a repair ($name)', (driver) => {
  it('[REL-032] that is interrupted anywhere is finished by the next opening', { timeout: 120_000 }, async () => {
    const damaged = await closedFolder();
    overwrite(databaseOf(damaged), 0, zeros(4_096));
    let finished = false;
    for (let calls = 1; !finished; calls++) {
      const dataDir = copyOf(damaged);
      finished = await opens(dataDir, calls);
      const log = await openLog(dataDir, { driver });
      expect(await log.read({ after: 0 }), `died at call ${calls}`).toEqual(sampleEntries(1, ENTRIES));
      // Who dies between the repair and the word about it leaves only the file that was put aside to tell.
      expect(log.repairs.length).toBeLessThanOrEqual(1);
      expect(readdirSync(dataDir).filter((name) => name.includes('.corrupt-'))).toHaveLength(1);
      await log.close();
      expect((await openLog(dataDir, { driver })).repairs).toEqual([]);
    }
  });

  async function opens(dataDir: string, calls: number): Promise<boolean> {
    try {
      const log = await openSqliteLog({ dataDir, driver: dyingDriver(driver, calls) });
      await log.close();
      return true;
    } catch {
      return false;
    }
  }
});

describe.each(drivers)('text that is not UTF-8 ($name)', (driver) => {
  it('[REL-032] is read with replacement characters, and does not end the process', async () => {
    const dataDir = dataFolder();
    const log = await openLog(dataDir, { driver });
    await appendSamples(log, 2);
    await log.close();
    const db = driver.open(databaseOf(dataDir));
    // Without a checksum, as in a file of an earlier version: with one, it is found to be damaged.
    db.exec(
      `UPDATE entries SET action = CAST(x'2241ff42e222' AS TEXT), channel = CAST(x'c3' AS TEXT), sum = NULL WHERE seq = 2`,
    );
    db.close();
    const again = await openLog(dataDir, { driver });
    const [first, second] = await again.read({ after: 0 });
    expect(first).toEqual(sampleEntry(1));
    expect(second).toMatchObject({ seq: 2, channel: '\ufffd', action: expect.stringMatching(/^"A\ufffdB\ufffd/) });
  });
});

describe('a connection that is let go of late', () => {
  it('leaves one file behind a log that was closed', async () => {
    const dataDir = dataFolder();
    const log = await openLog(dataDir);
    await appendSamples(log, 100);
    await log.close();
    expect(statSync(`${databaseOf(dataDir)}-wal`, { throwIfNoEntry: false })).toBe(undefined);
    expect((await openLog(copyOf(dataDir))).head).toBe(100);
  });
});
