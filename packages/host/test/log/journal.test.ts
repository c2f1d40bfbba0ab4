/** The commit journal: what a line is worth, what becomes of it after a kill, and what is never taken for one. */
import { cpSync, existsSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Commit, Log } from '@atrium/core/log/log.js';
import { describe, expect, it } from 'vitest';
import {
  CommitJournal,
  FOLD_AFTER_MS,
  JOURNAL_COMMIT_MAX_ENTRIES,
  JOURNAL_MAX_CHARACTERS,
  JOURNAL_MAX_ENTRIES,
  JOURNAL_MAX_RECORDS,
  readJournal,
} from '../../src/log-sqlite/commit-journal.js';
import type { Database } from '../../src/log-sqlite/driver.js';
import { headerOf, IN_USE_VERSION, SCHEMA_VERSION, withDatabase } from '../../src/log-sqlite/schema.js';
import { openSqliteLog } from '../../src/log-sqlite/sqlite-log.js';
import { FakeClock } from '../support/fake-clock.js';
import { cutTo, databaseOf, overwrite, zeros } from '../support/log-damage.js';
import { spyingDriver } from '../support/log-drivers.js';
import { copyOf, dataFolder, drivers, openLog } from '../support/log-folders.js';
import { appendSamples, sampleEntries, sampleEntry } from '../support/log-samples.js';

/** For thousands of small files, one after the other, on a disk that others use as well. */
const EVERY_BYTE_MS = 120_000;
const journalOf = (dataDir: string) => path.join(dataDir, 'atrium.journal');
const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size;

/** A folder as a killed process leaves it: 5 entries in the database, and as many commits of one entry in the journal. */
async function killed(lines: number): Promise<string> {
  const dataDir = dataFolder();
  const log = await openLog(dataDir);
  await appendSamples(log, 5, 'full');
  for (let line = 0; line < lines; line++) await appendSamples(log, 1);
  return copyOf(dataDir);
}

const SENDER = { clientId: 'a client', epoch: 2 };

/** The same, where the journal has what a client asked for, too: entries 6 and 8, each with records. */
async function killedWithRecords(): Promise<string> {
  const dataDir = dataFolder();
  const log = await openLog(dataDir);
  await log.append({ entries: sampleEntries(1, 5), records: [{ key: 'r:gone', value: '0' }], durability: 'full' });
  await log.append({ entries: [asked(6)], records: [numbered('r:b')], durability: 'normal' });
  await appendSamples(log, 1);
  const records = [numbered('r:a'), { key: 'r:gone', value: null }, { key: 's', value: '{"ü":1}' }];
  await log.append({ entries: [asked(8)], records, durability: 'normal' });
  await log.append({ entries: [], records: [{ key: 'r:c', value: '3' }], durability: 'normal' });
  await expectRecords(log);
  return copyOf(dataDir);
}

const asked = (seq: number) => ({ ...sampleEntry(seq), origin: { ...SENDER, clientSeq: 10 * seq } });
const numbered = (key: string) => ({ key, value: { before: '{"at":', entry: 0, after: '}' } });

async function expectRecords(log: Log): Promise<void> {
  expect(await log.read({ after: 5 })).toEqual([asked(6), sampleEntry(7), asked(8)]);
  expect(await log.clientSeqs(SENDER.clientId, SENDER.epoch, 0)).toEqual([60, 80]);
  expect([await log.record('r:a'), await log.record('r:gone'), await log.record('s')]).toEqual([
    '{"at":8}',
    undefined,
    '{"ü":1}',
  ]);
  const keys: string[] = [];
  await log.eachRecord('r:', ({ key }) => keys.push(key));
  expect(keys.sort()).toEqual(['r:a', 'r:b', 'r:c']);
  expect(await log.records('r:')).toEqual([
    { key: 'r:a', value: '{"at":8}' },
    { key: 'r:b', value: '{"at":6}' },
    { key: 'r:c', value: '3' },
  ]);
}

describe('the journal of a log', () => {
  it('says what it is in its first line, by which the hosts of other versions know it', async () => {
    const [first] = readFileSync(journalOf(await killed(1)), 'utf8').split('\n');
    expect(first).toMatch(/^[0-9a-f]{8} atrium-journal-1\t[0-9a-f]{16}$/);
  });

  it('[REL-031] has records and what clients asked for, and the next opening takes them', async () => {
    const dataDir = await killedWithRecords();
    expect(sizeOf(journalOf(dataDir))).toBeGreaterThan(0);
    const log = await openLog(dataDir);
    expect([log.head, log.repairs]).toEqual([8, []]);
    await expectRecords(log);
    // Those that wait stand between those that are stored, and in their place.
    const records = ['r:0', 'r:b', 'r:bb', 'r:d'].map((key) => ({ key, value: '1' }));
    await log.append({ entries: [], records, durability: 'normal' });
    expect(sizeOf(journalOf(dataDir))).toBeGreaterThan(0);
    const listed = ['r:0', 'r:a', 'r:b', 'r:bb', 'r:c', 'r:d'];
    expect((await log.records('r:')).map(({ key }) => key)).toEqual(listed);
    expect((await log.records('r:')).filter(({ value }) => value === '1')).toEqual(records);
    await appendSamples(log, 1, 'full');
    expect(sizeOf(journalOf(dataDir))).toBe(0);
    expect((await log.records('r:')).map(({ key }) => key)).toEqual(listed);
  });

  it.each(drivers)(
    '[REL-095] is taken by a synced commit; only an opening without one spares the sync ($name)',
    async (driver) => {
      /** What the database is told of syncing when the log is opened. */
      const told = async (dataDir: string) => {
        const lines: string[] = [];
        const opened = (_: string, db: Database) => {
          const exec = db.exec.bind(db);
          Object.assign(db, {
            exec(sql: string) {
              if (/^PRAGMA (synchronous|user_version) =/.test(sql)) lines.push(sql.replace(/= \d+$/, '= …'));
              exec(sql);
            },
          });
        };
        await (await openLog(dataDir, { driver: spyingDriver(driver, opened) })).close();
        return lines.slice(0, lines.indexOf('PRAGMA synchronous = FULL', lines.indexOf('PRAGMA user_version = …')) + 1);
      };
      const left = await killed(2);
      expect(await told(left)).not.toContain('PRAGMA synchronous = OFF');
      expect((await told(left)).slice(-3)).toEqual([
        'PRAGMA synchronous = OFF',
        'PRAGMA user_version = …',
        'PRAGMA synchronous = FULL',
      ]);
    },
  );

  it('[REL-013] takes no number of a client twice, whether the journal or the database has it', async () => {
    const log = await openLog(dataFolder());
    const append = (clientSeq: number, epoch = 1, durability: Commit['durability'] = 'normal') =>
      log.append({ entries: [{ ...sampleEntry(1), origin: { clientId: 'c', epoch, clientSeq } }], durability });
    const twice = { reason: 'duplicate-origin' };
    await append(3);
    await expect(append(3)).rejects.toMatchObject(twice);
    await append(7);
    await expect(append(3)).rejects.toMatchObject(twice);
    await append(5);
    await append(5, 2);
    await expect(append(5)).rejects.toMatchObject(twice);
    await append(8, 1, 'full');
    await expect(append(8)).rejects.toMatchObject(twice);
    await append(9);
    await expect(append(5, 2)).rejects.toMatchObject(twice);
    const both = [10, 10].map((clientSeq) => ({ ...sampleEntry(1), origin: { clientId: 'c', epoch: 1, clientSeq } }));
    await expect(log.append({ entries: both, durability: 'normal' })).rejects.toMatchObject(twice);
    expect([await log.clientSeqs('c', 1, 0), await log.clientSeqs('c', 2, 0)]).toEqual([[3, 5, 7, 8, 9], [5]]);
  });

  it('[REL-031] has what was acknowledged, and the next opening takes it without a word', async () => {
    const dataDir = await killed(4);
    expect(sizeOf(journalOf(dataDir))).toBeGreaterThan(0);
    const log = await openLog(dataDir);
    expect([log.head, log.oldest, log.repairs]).toEqual([9, 1, []]);
    expect(await log.read({ after: 0 })).toEqual(sampleEntries(1, 9));
    expect(existsSync(journalOf(dataDir))).toBe(false);
    await appendSamples(log, 2);
    expect((await openLog(copyOf(dataDir))).head).toBe(11);
  });

  it('is read with the database, by number and by channel, and is gone once the log is closed', async () => {
    const dataDir = dataFolder();
    const log = await openLog(dataDir);
    await appendSamples(log, 14, 'full');
    for (let line = 0; line < 14; line++) await appendSamples(log, 1);
    expect(await log.read({ after: 12, limit: 4 })).toEqual(sampleEntries(13, 16));
    const { channel } = sampleEntry(3);
    const own = sampleEntries(1, 28).filter((entry) => entry.channel === channel);
    expect(await log.read({ after: 0, channel })).toEqual(own);
    expect(await log.read({ after: 0, channel, limit: 3 })).toEqual(own.slice(0, 3));
    expect((await log.openChannel(channel, 0))?.tail).toEqual(own);
    await log.forget(channel);
    expect(await log.read({ after: 0, channel })).toEqual([]);
    await log.close();
    expect(existsSync(journalOf(dataDir))).toBe(false);
    expect((await openLog(copyOf(dataDir))).head).toBe(28);
  });

  it('goes into the database after a while, with the next synced commit, and when it is full', async () => {
    const dataDir = dataFolder();
    const clock = new FakeClock();
    const log = await openLog(dataDir, { clock });
    await appendSamples(log, 1);
    await clock.advance(FOLD_AFTER_MS - 1);
    expect(sizeOf(journalOf(dataDir))).toBeGreaterThan(0);
    await clock.advance(1);
    expect(sizeOf(journalOf(dataDir))).toBe(0);
    await appendSamples(log, 1);
    await appendSamples(log, 1, 'full');
    expect(sizeOf(journalOf(dataDir))).toBe(0);
    for (let line = 0; line < JOURNAL_MAX_ENTRIES; line++) await appendSamples(log, 1);
    expect(sizeOf(journalOf(dataDir))).toBeGreaterThan(0);
    await appendSamples(log, 1);
    expect(sizeOf(journalOf(dataDir))).toBe(0);
    expect(await log.read({ after: 0 })).toEqual(sampleEntries(1, log.head));
  });

  it('takes small commits without archives, up to its limits', () => {
    const journal = new CommitJournal(journalOf(dataFolder()), 'salt');
    const entry = { channel: 'c', time: 1, action: '{}' };
    const takes = (commit: Partial<Commit>) => journal.accepts({ entries: [entry], durability: 'normal', ...commit });
    expect([takes({}), takes({ durability: 'full' }), takes({ entries: [] })]).toEqual([true, true, false]);
    expect(takes({ entries: [], records: [{ key: 'k', value: '1' }] })).toBe(true);
    for (const record of [
      { key: 'a\tb', value: null },
      { key: 'k', value: '"\n"' },
    ])
      expect(takes({ records: [record] })).toBe(false);
    expect(takes({ archives: [{ channel: 'c', head: '{}', turns: { start: 0, items: [] } }] })).toBe(false);
    for (const [clientId, fits] of [
      ['a b', true],
      ['a\nb', false],
    ] as const)
      expect(takes({ entries: [{ ...entry, origin: { clientId, epoch: 1, clientSeq: 1 } }] })).toBe(fits);
    expect([takes({ entries: Array(JOURNAL_COMMIT_MAX_ENTRIES).fill(entry) })]).toEqual([true]);
    expect(takes({ entries: Array(JOURNAL_COMMIT_MAX_ENTRIES + 1).fill(entry) })).toBe(false);
    expect(takes({ records: Array(JOURNAL_COMMIT_MAX_ENTRIES + 1).fill({ key: 'k', value: '1' }) })).toBe(false);
    for (const action of ['{\n}', '{\t}', '"\0"']) expect(takes({ entries: [{ ...entry, action }] })).toBe(false);
    expect(takes({ entries: [{ ...entry, channel: 'a\nb' }] })).toBe(false);
    const long = 'x'.repeat(JOURNAL_MAX_CHARACTERS - 1);
    expect(takes({ entries: [{ ...entry, action: long }] })).toBe(true);
    expect(takes({ entries: [{ ...entry, action: `${long}x` }] })).toBe(false);
    for (let count = 0; count < JOURNAL_MAX_ENTRIES; count++)
      expect(journal.write({ entries: [entry], durability: 'normal' }, count + 1)).toBe(true);
    expect(takes({})).toBe(false);
    expect([journal.mayHaveLines, journal.hasSynced]).toEqual([true, false]);
    expect(journal.characters).toBeGreaterThanOrEqual(3 * JOURNAL_MAX_ENTRIES);
    journal.emptied('other salt');
    expect([journal.isEmpty, journal.mayHaveLines, journal.characters, journal.salt]).toEqual([
      ...[true, false, 0],
      'other salt',
    ]);
    expect(journal.write({ entries: [entry], durability: 'full' }, 1)).toBe(true);
    expect([journal.hasSynced, journal.first, journal.entries.length]).toEqual([true, 1, 1]);
    journal.emptied('third salt');
    expect([journal.hasSynced, journal.entries, journal.records.size]).toEqual([false, [], 0]);
    for (let count = 0; count < JOURNAL_MAX_RECORDS; count++) {
      const records = [{ key: `k${count}`, value: '1' }];
      expect(takes({ entries: [], records })).toBe(true);
      journal.write({ entries: [], records, durability: 'normal' }, 1);
    }
    expect([takes({}), takes({ records: [{ key: 'k', value: '1' }] })]).toEqual([true, false]);
    journal.close();
  });

  it('[REL-013] takes the next small commit after one that was refused', async () => {
    const dataDir = dataFolder();
    const log = await openLog(dataDir);
    await log.append({ entries: [asked(1)], durability: 'full' });
    await expect(log.append({ entries: [asked(1)], durability: 'full' })).rejects.toMatchObject({
      reason: 'duplicate-origin',
    });
    await appendSamples(log, 1);
    expect(sizeOf(journalOf(dataDir))).toBeGreaterThan(0);
  });

  it('[REL-033] that cannot be written leaves the commit to the database', async () => {
    const journal = new CommitJournal(path.join(dataFolder(), 'no', 'folder'), 'salt');
    expect(journal.write({ entries: [{ channel: 'c', time: 1, action: '{}' }], durability: 'normal' }, 1)).toBe(false);
    expect([journal.entries, journal.isEmpty]).toEqual([[], true]);
    const dataDir = dataFolder();
    const log = await openLog(dataDir);
    // Nothing follows a link that somebody puts into its place.
    symlinkSync(path.join(dataDir, 'elsewhere'), journalOf(dataDir));
    await appendSamples(log, 3);
    expect(existsSync(path.join(dataDir, 'elsewhere'))).toBe(false);
    await log.close();
    await expect(openSqliteLog({ dataDir })).rejects.toMatchObject({ reason: 'symlink' });
    rmSync(journalOf(dataDir));
    expect((await openLog(dataDir)).head).toBe(3);
  });

  it.each(drivers)('[REL-033] [REL-066] stays when the database is full, and is read ($name)', async (driver) => {
    const dataDir = dataFolder();
    const databases: Database[] = [];
    const warnings: string[] = [];
    const clock = new FakeClock();
    const log = await openLog(dataDir, {
      ...{ clock, driver: spyingDriver(driver, (_, db) => databases.push(db)) },
      logger: { log: (_, text) => warnings.push(text) },
    });
    databases.at(-1)?.exec('PRAGMA max_page_count = 1');
    for (let line = 0; line < JOURNAL_MAX_ENTRIES; line++) await appendSamples(log, 1);
    await clock.advance(FOLD_AFTER_MS);
    expect(warnings).toEqual([expect.stringContaining('tries again')]);
    await expect(appendSamples(log, 1)).rejects.toMatchObject({ reason: 'disk-full' });
    expect(await log.read({ after: 0 })).toEqual(sampleEntries(1, JOURNAL_MAX_ENTRIES));
    await log.close();
    const again = await openLog(copyOf(dataDir));
    expect([again.head, again.repairs]).toEqual([JOURNAL_MAX_ENTRIES, []]);
    expect(await again.read({ after: 0 })).toEqual(sampleEntries(1, JOURNAL_MAX_ENTRIES));
  });

  it('keeps the number of what ends with the host, and nothing else of it', async () => {
    const dataDir = dataFolder();
    const log = await openLog(dataDir);
    await log.append({ entries: [{ ...sampleEntry(1), isEphemeral: true }], durability: 'normal' });
    expect(readFileSync(journalOf(dataDir), 'utf8')).not.toContain('Grüße');
    const entries = [{ seq: 1, channel: '', time: 1, action: '' }];
    expect(await log.read({ after: 0 })).toEqual(entries);
    expect(await (await openLog(copyOf(dataDir))).read({ after: 0 })).toEqual(entries);
  });
});

describe('a database that a journal may stand beside', () => {
  it('says so in its header until it is closed, so that an older host leaves both alone', async () => {
    const dataDir = dataFolder();
    const log = await openLog(dataDir);
    expect(headerOf(databaseOf(dataDir))?.version).toBe(IN_USE_VERSION);
    await appendSamples(log, 1);
    await log.close();
    expect(headerOf(databaseOf(dataDir))?.version).toBe(SCHEMA_VERSION);
    expect(headerOf(databaseOf(await killed(1)))?.version).toBe(IN_USE_VERSION);
  });
});

describe('a journal that was cut or damaged', () => {
  it('[REL-032] is read up to the last whole line, wherever it was cut', { timeout: EVERY_BYTE_MS }, async () => {
    const dataDir = await killed(3);
    const file = journalOf(dataDir);
    const bytes = readFileSync(file);
    const ends = [...bytes.entries()].filter(([, byte]) => byte === 10).map(([at]) => at + 1);
    expect(ends).toHaveLength(4);
    for (let length = 1; length <= bytes.length; length++) {
      writeFileSync(file, bytes.subarray(0, length));
      const whole = ends.filter((end) => end <= length).length;
      const found = readJournal(file);
      expect(found?.end, `${length} bytes`).toBe(ends.includes(length) ? 'whole' : 'unfinished');
      expect(found?.entries).toEqual(sampleEntries(6, 5 + Math.max(0, whole - 1)));
    }
  });

  it('[REL-032] [REL-064] is never read as what it was not, whichever byte was changed', {
    timeout: EVERY_BYTE_MS,
  }, async () => {
    const file = journalOf(await killedWithRecords());
    const bytes = readFileSync(file);
    const right = readJournal(file);
    expect(right?.entries).toEqual([asked(6), sampleEntry(7), asked(8)]);
    expect([...(right?.records ?? [])]).toHaveLength(5);
    for (const change of [1, 2, 32, 128]) {
      for (let at = 0; at < bytes.length; at++) {
        const wrong = Buffer.from(bytes);
        wrong.writeUInt8(wrong.readUInt8(at) ^ change, at);
        writeFileSync(file, wrong);
        const found = readJournal(file);
        expect(found?.end, `byte ${at}`).toBe('damaged');
        expect(found?.entries).toEqual(right?.entries.slice(0, found?.entries.length));
        for (const [key, value] of found?.records ?? []) expect(value).toBe(right?.records.get(key));
      }
    }
  });

  it('[REL-031] loses a last line that was never finished, keeps its bytes, and goes on', async () => {
    const dataDir = await killed(3);
    const file = journalOf(dataDir);
    cutTo(file, statSync(file).size - 10);
    const log = await openLog(dataDir);
    expect(log.repairs).toMatchObject([{ message: expect.stringContaining('never acknowledged') }]);
    expect(statSync(log.repairs[0]?.keptAt ?? '').size).toBeGreaterThan(0);
    expect(log.head).toBe(7);
    await appendSamples(log, 1);
    await log.close();
    const again = await openLog(dataDir);
    expect([await again.read({ after: 0 }), again.repairs]).toEqual([sampleEntries(1, 8), []]);
  });

  it('[REL-016] [REL-032] says what is lost, keeps the bytes, and gives no number again', async () => {
    const dataDir = await killed(9);
    const file = journalOf(dataDir);
    overwrite(file, Math.floor(statSync(file).size / 2), zeros(3));
    const log = await openLog(dataDir);
    expect(log.repairs).toMatchObject([{ message: expect.stringContaining('journal was damaged') }]);
    expect(statSync(log.repairs[0]?.keptAt ?? '').size).toBeGreaterThan(0);
    const entries = await log.read({ after: 0 });
    expect(entries.length).toBeGreaterThan(5);
    expect(entries).toEqual(sampleEntries(1, entries.length));
    expect(log.head).toBeGreaterThan(1_000_000);
    await log.close();
    expect((await openLog(dataDir)).repairs).toEqual([]);
  });
});

describe('a journal that is not of this database, or of another time', () => {
  async function expectKeptAside(dataDir: string, text: string, head: number): Promise<void> {
    const bytes = readFileSync(journalOf(dataDir));
    const log = await openLog(dataDir);
    expect(log.repairs).toMatchObject([{ message: expect.stringContaining(text) }]);
    expect(readFileSync(log.repairs[0]?.keptAt ?? '').equals(bytes)).toBe(true);
    expect(await log.read({ after: 0 })).toEqual(sampleEntries(1, head));
    expect(log.head).toBeGreaterThan(1_000_000);
    expect(existsSync(journalOf(dataDir))).toBe(false);
  }

  it('[REL-032] is left out: of another folder', async () => {
    const dataDir = await killed(2);
    cpSync(journalOf(await killed(3)), journalOf(dataDir));
    await expectKeptAside(dataDir, 'not of this database', 5);
  });

  it('[REL-032] is left out: of a database that was lost', async () => {
    const dataDir = await killed(2);
    for (const part of ['', '-wal', '-shm']) rmSync(databaseOf(dataDir) + part, { force: true });
    await expectKeptAside(dataDir, 'not of this database', 0);
  });

  it('[REL-032] is left out: later than a copy of the database that was put back', async () => {
    const dataDir = dataFolder();
    const log = await openLog(dataDir);
    await appendSamples(log, 5, 'full');
    const backup = copyOf(dataDir);
    await appendSamples(log, JOURNAL_COMMIT_MAX_ENTRIES + 1);
    await appendSamples(log, 1);
    cpSync(journalOf(dataDir), journalOf(backup));
    await expectKeptAside(backup, 'does not continue', 5);
  });

  it('[REL-032] is left out: earlier than a database that has taken other lines since', async () => {
    const dataDir = dataFolder();
    const log = await openLog(dataDir);
    await appendSamples(log, 1);
    const old = copyOf(dataDir);
    for (let round = 0; round < 2; round++) {
      await appendSamples(log, JOURNAL_COMMIT_MAX_ENTRIES + 1);
      await appendSamples(log, 1);
    }
    const copy = copyOf(dataDir);
    cpSync(journalOf(old), journalOf(copy));
    await expectKeptAside(copy, 'not of this database', 2 * JOURNAL_COMMIT_MAX_ENTRIES + 4);
  });

  it('[REL-031] is dropped without a word when the database has just taken it', async () => {
    const dataDir = dataFolder();
    const log = await openLog(dataDir);
    await appendSamples(log, 1);
    const lines = readFileSync(journalOf(dataDir));
    await appendSamples(log, 1, 'full');
    const copy = copyOf(dataDir);
    writeFileSync(journalOf(copy), lines);
    const again = await openLog(copy);
    expect([again.head, again.repairs, await again.read({ after: 0 })]).toEqual([2, [], sampleEntries(1, 2)]);
  });
});

describe('a journal beside a database that lost something', () => {
  it('[REL-016] is taken after the machine stopped, and numbering goes on above it', async () => {
    const dataDir = await killed(4);
    writeFileSync(path.join(dataDir, 'atrium.owner'), JSON.stringify({ at: 'open', pid: 1, boot: 'an earlier one' }));
    const log = await openLog(dataDir);
    expect(log.repairs).toHaveLength(1);
    expect(await log.read({ after: 0 })).toEqual(sampleEntries(1, 9));
    expect(log.head).toBeGreaterThan(1_000_000);
    await appendSamples(log, 1);
    const again = await openLog(copyOf(dataDir));
    expect([again.head, again.repairs]).toEqual([log.head, []]);
  });

  it.each(drivers)(
    '[REL-063] [REL-013] keeps the numbers that clients used, when it is rebuilt ($name)',
    async (driver) => {
      const dataDir = dataFolder();
      const log = await openLog(dataDir, { driver });
      const { channel } = sampleEntry(1);
      const entries = [1, 2, 3].map((seq) => ({ ...asked(seq), channel }));
      await log.append({
        ...{ entries, durability: 'full' },
        archives: [{ channel, head: '{}', turns: { start: 0, items: [] } }],
      });
      await log.compact({ upTo: 3, keep: 0 });
      expect(await log.read({ after: 0 })).toEqual([]);
      const copy = copyOf(dataDir);
      withDatabase(driver, databaseOf(copy), (db) => db.exec(`INSERT INTO records VALUES ('bad', '{', NULL)`));
      const again = await openLog(copy, { driver });
      expect(again.repairs).toMatchObject([{ isRebuilt: true }]);
      expect(await again.clientSeqs(SENDER.clientId, SENDER.epoch, 0)).toEqual([10, 20, 30]);
    },
  );

  it.each(drivers)(
    '[REL-063] is taken when the database was rebuilt, if all before it was saved ($name)',
    async (driver) => {
      /** A record that cannot be read. */
      const spoil = (dataDir: string) =>
        withDatabase(driver, databaseOf(dataDir), (db) => db.exec(`INSERT INTO records VALUES ('bad', '{', NULL)`));
      const dataDir = await killed(4);
      spoil(dataDir);
      const log = await openLog(dataDir, { driver });
      expect(log.repairs).toMatchObject([{ isRebuilt: true }]);
      expect(await log.read({ after: 0 })).toEqual(sampleEntries(1, 9));
      expect(log.head).toBeGreaterThan(1_000_000);
      await appendSamples(log, 1);
      // A second rebuild finds no gap that it has to cut at.
      const copy = copyOf(dataDir);
      spoil(copy);
      const again = await openLog(copy, { driver });
      expect(await again.read({ after: 0 })).toEqual([...sampleEntries(1, 9), sampleEntry(log.head)]);
    },
  );
});
