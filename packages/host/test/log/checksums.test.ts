/** Bit rot: text that SQLite reads without a complaint, and that is not what was stored. */
import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import type { Log } from '@atrium/core/log/log.js';
import { defaultChatUri } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import {
  type Database,
  libsqlDriver,
  type SqliteDriver,
  type SqlValue,
  type Statement,
} from '../../src/log-sqlite/driver.js';
import { databaseOf } from '../support/log-damage.js';
import { copyOf, dataFolder, drivers, openLog } from '../support/log-folders.js';

const CHANNEL = 'ahp-session:/s';
const CHAT = defaultChatUri(CHANNEL);
const HEAD = '{"title":"marker-head"}';
const ENTRY = '{"type":"test","text":"marker-entry"}';
const VALUE = '{"text":"marker-record"}';

const turn = (index: number) => ({ id: `t${index}`, json: `{"id":"t${index}","text":"marker-turn-${index} ok"}` });

async function fill(log: Log): Promise<void> {
  const items = [turn(0), turn(1), turn(2)];
  const entry = { channel: CHANNEL, time: 1, action: ENTRY };
  await log.append({
    entries: [entry, entry],
    archives: [{ channel: CHANNEL, head: HEAD, turns: { start: 0, items } }],
    records: [{ key: 'session:s', value: VALUE }],
    durability: 'full',
  });
}

/** A closed folder, with one bit of a text flipped where SQLite does not look. The JSON stays valid. */
async function rotten(driver: SqliteDriver, text: string, occurrence = 0): Promise<string> {
  const dataDir = dataFolder();
  const log = await openLog(dataDir, { driver });
  await fill(log);
  await log.close();
  const copy = copyOf(dataDir);
  const file = databaseOf(copy);
  const bytes = readFileSync(file);
  let at = bytes.indexOf(text);
  for (let count = 0; count < occurrence; count++) at = bytes.indexOf(text, at + 1);
  if (at < 0) throw new Error(`${text} is not in the file`);
  const handle = openSync(file, 'r+');
  writeSync(handle, Buffer.from([(bytes[at] ?? 0) ^ 1]), 0, 1, at);
  closeSync(handle);
  return copy;
}

/** What is kept of it, without a further report when it is read again, also by the next process. */
async function expectReportedOnce(log: Log, dataDir: string, what: string, text: string): Promise<void> {
  expect(log.repairs).toHaveLength(1);
  const [repair] = log.repairs;
  expect(repair?.message).toContain(what);
  expect(repair?.message).toContain('checksum');
  expect(readFileSync(repair?.keptAt ?? '', 'latin1')).toContain(text);
  expect(repair?.keptAt).toContain('atrium.db.corrupt-');
  await log.close();
  expect((await openLog(dataDir)).repairs).toEqual([]);
}

describe.each(drivers)('stored text that is not what was stored ($name)', (driver) => {
  it('[REL-064] is never shown as a turn: one that says so stands in its place', async () => {
    const dataDir = await rotten(driver, 'marker-turn-1');
    const log = await openLog(dataDir, { driver });
    const heard: string[] = [];
    log.onRepair(({ message }) => heard.push(message));
    const turns = await log.archivedTurns(CHANNEL, { start: 0, end: 3 });
    expect(turns.map(({ id }) => id)).toEqual(['t0', 't1', 't2']);
    expect([turns[0], turns[2]]).toEqual([turn(0), turn(2)]);
    expect(JSON.parse(turns[1]?.json ?? '')).toMatchObject({
      id: 't1',
      message: { text: expect.stringContaining('damaged') },
      state: 'error',
      responseParts: [{ kind: 'error', error: { errorType: 'damaged' } }],
    });
    const text = await log.archivedTurnsText(CHANNEL, { start: 0, end: 3 });
    expect(text).toBe(turns.map(({ json }) => json).join(','));
    expect(heard).toHaveLength(1);
    await expectReportedOnce(log, dataDir, `turn 1 (t1) of ${CHANNEL}`, 'larker-turn-1');
  });

  it('[REL-064] is found when turns are read as one text, too', async () => {
    const log = await openLog(await rotten(driver, 'marker-turn-2'), { driver });
    expect(await log.archivedTurnsText(CHANNEL, { start: 0, end: 3 })).not.toContain('arker-turn-2');
    expect(log.repairs).toHaveLength(1);
  });

  it('[REL-064] is found when turns are read as bytes, too', async () => {
    const log = await openLog(await rotten(driver, 'marker-turn-2'), { driver });
    const { count, json } = await log.archivedTurnsJson(CHANNEL, { start: 0, end: 3, turnMaxBytes: 1_000 });
    const shown = JSON.parse(`[${json}]`) as { id: string }[];
    expect([count, shown.map(({ id }) => id)]).toEqual([3, ['t0', 't1', 't2']]);
    expect(json.toString()).not.toContain('arker-turn-2');
    expect(log.repairs).toHaveLength(1);
  });

  it.each([`X''`, `''`, `'abc'`, '9e999', '1.5'])(
    '[REL-064] is found when its sum is no number any more: %s',
    async (sum) => {
      const dataDir = await rotten(driver, 'marker-entry');
      const db = driver.open(databaseOf(dataDir));
      // As a page they would still be whole.
      db.exec(`UPDATE turns SET sum = ${sum} WHERE idx = 1; DELETE FROM turn_pages`);
      db.close();
      const log = await openLog(dataDir, { driver });
      const { count, json } = await log.archivedTurnsJson(CHANNEL, { start: 0, end: 3, turnMaxBytes: 1_000 });
      const shown = JSON.parse(`[${json}]`) as { id: string; state: string }[];
      expect([count, shown.map(({ id, state }) => `${id} ${state === 'error'}`)]).toEqual([
        3,
        ['t0 false', 't1 true', 't2 false'],
      ]);
      expect(await log.archivedTurns(CHANNEL, { start: 0, end: 3 })).toHaveLength(3);
      expect(log.repairs).toHaveLength(1);
    },
  );

  it('[REL-064] is never given as an action, and keeps its number', async () => {
    const dataDir = await rotten(driver, 'marker-entry');
    const log = await openLog(dataDir, { driver });
    const entries = await log.read({ after: 0, channel: CHANNEL });
    const damaged = entries.filter(({ isDamaged }) => isDamaged);
    expect(entries.map(({ seq }) => seq)).toEqual([1, 2]);
    expect(damaged).toMatchObject([{ channel: CHANNEL, action: '' }]);
    expect((await log.read({ after: 0 })).filter(({ isDamaged }) => isDamaged)).toEqual(damaged);
    await expectReportedOnce(log, dataDir, `the action ${damaged[0]?.seq} of ${CHANNEL}`, 'larker-entry');
    expect((await (await openLog(copyOf(dataDir))).read({ after: 0 })).filter(({ isDamaged }) => isDamaged)).toEqual(
      damaged,
    );
  });

  it('[REL-064] hides nothing of what stands behind it and is not in the database yet', async () => {
    const log = await openLog(await rotten(driver, 'marker-entry'), { driver });
    for (const time of [3, 4])
      await log.append({ entries: [{ channel: CHANNEL, time, action: ENTRY }], durability: 'normal' });
    expect((await log.read({ after: 0, channel: CHANNEL })).map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    expect((await log.read({ after: 0 })).map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
  });

  it('[REL-064] is left out of the records, with a sign that something is missing', async () => {
    const dataDir = await rotten(driver, 'marker-record');
    const log = await openLog(dataDir, { driver });
    expect(await log.records('session:')).toEqual([]);
    expect(await log.record('session:s')).toBeUndefined();
    expect(await log.record('log:rebuilt')).toBe('{}');
    await expectReportedOnce(log, dataDir, 'the record session:s', 'larker-record');
  });

  it('[REL-064] is not given as the head of an archive', async () => {
    const log = await openLog(await rotten(driver, 'marker-head'), { driver });
    expect(await log.archiveHead(CHANNEL)).toEqual({ seq: 2, head: '', turnCount: 3, isDamaged: true });
    expect(log.repairs[0]?.message).toContain(`the archive of ${CHANNEL}`);
  });

  it('[REL-064] is found behind a copy of the turns, as behind the original', async () => {
    const dataDir = dataFolder();
    const log = await openLog(dataDir, { driver });
    await fill(log);
    await log.copyTurns(CHANNEL, 'ahp-session:/copy', { start: 0, end: 2 });
    expect(await log.archivedTurns('ahp-session:/copy', { start: 0, end: 9 })).toEqual([turn(0), turn(1)]);
    expect(log.repairs).toEqual([]);
  });
});

/** What a host of the first version stored: it had the 0.3.0 model. */
const FIRST_SUMMARY = { resource: CHANNEL, provider: 'p', title: 'Kept', status: 1, createdAt: 1, modifiedAt: 2 };
const FIRST_STATE = { summary: FIRST_SUMMARY, lifecycle: 'ready', turns: [] };
const FIRST_TURN = { id: 't0', userMessage: { text: 'hi' }, responseParts: [], state: 'complete' };

/** The tables of the first version, as it made them. */
const FIRST_VERSION = `
  PRAGMA application_id = ${0x4174726d}; PRAGMA user_version = 1;
  CREATE TABLE entries (seq INTEGER PRIMARY KEY, channel TEXT NOT NULL, time INTEGER NOT NULL, action TEXT NOT NULL,
    client_id TEXT, epoch INTEGER, client_seq INTEGER);
  CREATE UNIQUE INDEX entries_by_origin ON entries (client_id, epoch, client_seq) WHERE client_id IS NOT NULL;
  CREATE INDEX entries_by_channel ON entries (channel);
  CREATE TABLE archives (channel TEXT PRIMARY KEY, seq INTEGER NOT NULL, head TEXT NOT NULL);
  CREATE TABLE turns (channel TEXT NOT NULL, idx INTEGER NOT NULL, id TEXT NOT NULL, json TEXT NOT NULL,
    PRIMARY KEY (channel, idx));
  CREATE INDEX turns_by_id ON turns (channel, id);
  CREATE TABLE records (key TEXT PRIMARY KEY, value TEXT NOT NULL);
  CREATE TABLE client_marks (client_id TEXT NOT NULL, epoch INTEGER NOT NULL, ranges TEXT NOT NULL,
    PRIMARY KEY (client_id, epoch));
  CREATE TABLE compaction (id INTEGER PRIMARY KEY CHECK (id = 1), dropped INTEGER NOT NULL);
  INSERT INTO compaction VALUES (1, 0);
  CREATE TABLE skips (after INTEGER PRIMARY KEY, upto INTEGER NOT NULL);
  INSERT INTO entries VALUES (1, '${CHANNEL}', 1, '${ENTRY}', 'c', 1, 1);
  INSERT INTO archives VALUES ('${CHANNEL}', 1, '${JSON.stringify(FIRST_STATE)}');
  INSERT INTO turns VALUES ('${CHANNEL}', 0, 't0', '${JSON.stringify(FIRST_TURN)}');
  INSERT INTO records VALUES ('session:${CHANNEL}', '${JSON.stringify(FIRST_STATE)}');`;

function firstVersion(driver: SqliteDriver): string {
  const dataDir = dataFolder();
  const db = driver.open(databaseOf(dataDir));
  db.exec(`PRAGMA page_size = 4096; ${FIRST_VERSION}`);
  db.close();
  return dataDir;
}

/** The same in the 1.0 model. */
async function expectContents(log: Log): Promise<void> {
  expect(await log.clientSeqs('c', 1, 0)).toEqual([1]);
  expect(JSON.parse((await log.archiveHead(CHANNEL))?.head ?? '')).toMatchObject({ title: 'Kept', defaultChat: CHAT });
  const [first, ...others] = await log.archivedTurns(CHAT, { start: 0, end: 9 });
  expect(others).toEqual([]);
  expect(JSON.parse(first?.json ?? '')).toMatchObject({ id: 't0', message: { text: 'hi' } });
  const listing = JSON.parse((await log.record(`session:${CHANNEL}`)) ?? '');
  expect(listing).toMatchObject({ summary: { title: 'Kept', createdAt: '1970-01-01T00:00:00.001Z' } });
}

describe.each(drivers)('a log of the first version ($name)', (driver) => {
  it('[REL-064] opens with everything in it, and gives sums to what is stored from then on', async () => {
    const dataDir = firstVersion(driver);
    const log = await openLog(dataDir, { driver });
    expect(log.repairs).toEqual([]);
    await expectContents(log);
    const items = [turn(1)];
    const archive = { channel: CHAT, head: HEAD, turns: { start: 1, items } };
    await log.append({ entries: [], archives: [archive], durability: 'full' });
    await log.close();
    const file = databaseOf(dataDir);
    const bytes = readFileSync(file);
    const at = bytes.indexOf('marker-turn-1');
    const handle = openSync(file, 'r+');
    writeSync(handle, Buffer.from([(bytes[at] ?? 0) ^ 1]), 0, 1, at);
    closeSync(handle);
    const again = await openLog(copyOf(dataDir), { driver });
    const turns = await again.archivedTurns(CHAT, { start: 0, end: 9 });
    expect(turns[0]?.json).toContain('"hi"');
    expect(turns[1]?.json).toContain('damaged');
  });

  it('[REL-063] is rebuilt when it is damaged', async () => {
    const dataDir = firstVersion(driver);
    const file = databaseOf(dataDir);
    const handle = openSync(file, 'r+');
    // The first page: what is known of the tables.
    writeSync(handle, Buffer.alloc(4_096), 0, 4_096, 0);
    closeSync(handle);
    rmSync(`${dataDir}/atrium.owner`, { force: true });
    const log = await openLog(dataDir, { driver });
    expect(log.repairs).toHaveLength(1);
    expect(log.repairs[0]?.message).toContain('saved: 1 turns of 1 sessions; lost: 0 turns');
    await expectContents(log);
  });
});

/** `node:sqlite` gives a text only up to its first NUL, and stores all of it. */
function cuttingDriver(inner: SqliteDriver): SqliteDriver {
  const cut = <Row>(row: Row): Row =>
    Object.fromEntries(
      Object.entries(row ?? {}).map(([name, value]) => [name, typeof value === 'string' ? upToNul(value) : value]),
    ) as Row;
  const open = (path: string): Database => {
    const db = inner.open(path);
    const prepare = <Row>(sql: string): Statement<Row> => {
      const statement = db.prepare<Row>(sql);
      const get = (...values: SqlValue[]) => {
        const row = statement.get(...values);
        return row === undefined ? undefined : cut(row);
      };
      return { ...statement, get, all: (...values) => statement.all(...values).map(cut) };
    };
    return { ...db, prepare };
  };
  return { ...inner, open };
}

const upToNul = (text: string) => text.split('\0')[0];

describe('an id with a NUL in it', () => {
  it('[REL-064] does not make what is stored under it count as damaged, nor what is stored under its beginning', async () => {
    const log = await openLog(dataFolder(), { driver: cuttingDriver(await libsqlDriver()) });
    const json = '{"text":"said"}';
    await log.append({
      entries: [{ channel: 'ahp-session:/s\0t', time: 1, action: '{}' }],
      records: ['client:a', 'client:a\0b'].map((key) => ({ key, value: '{}' })),
      archives: [{ channel: 'ahp-session:/s', head: '{}', turns: { start: 0, items: [{ id: 'a\0b', json }] } }],
      durability: 'normal',
    });
    expect(await log.archivedTurns('ahp-session:/s', { start: 0, end: 1 })).toMatchObject([{ json }]);
    expect(await log.records('client:')).toHaveLength(2);
    expect(await log.record('client:a')).toBe('{}');
    expect(await log.read({ after: 0 })).toMatchObject([{ action: '{}' }]);
    expect(log.repairs).toEqual([]);
  });
});
