/** Logs of the 0.3.0 model, whole and damaged, in the 1.0 model. What a whole data folder becomes is tested in `data-folder/`. */
import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import type { Log, LogRecord, NewArchive, NewEntry } from '@atrium/core/log/log.js';
import type * as Stored from '@atrium/protocol';
import { type ChatState, defaultChatUri, ROOT_CHANNEL, type SessionState, type Turn } from '@atrium/protocol/ahp-1';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { SqliteDriver } from '../../src/log-sqlite/driver.js';
import { currentBoot } from '../../src/log-sqlite/folder.js';
import { backUp, PROGRESS_EVERY_MS } from '../../src/log-sqlite/upcast.js';
import { databaseOf } from '../support/log-damage.js';
import { copyOf, dataFolder, drivers, openLog } from '../support/log-folders.js';

const SESSION = 'ahp-session:/s';
const CHAT = defaultChatUri(SESSION);
const ALL = { start: 0, end: 99 };

const summary: Stored.SessionSummary = {
  resource: SESSION,
  provider: 'p',
  title: 'From the list',
  status: 1,
  createdAt: 1_000,
  modifiedAt: 2_000,
};
const archived: Stored.SessionState = {
  summary: { ...summary, title: 'From the archive' },
  lifecycle: 'ready',
  turns: [],
};
const listing = { key: `session:${SESSION}`, value: JSON.stringify({ summary, lifecycle: 'ready' }) };

const turn = (id: string): Stored.Turn => ({
  id,
  userMessage: { text: `said in ${id}` },
  responseParts: [],
  usage: undefined,
  state: 'complete',
});
const archive = (ids: readonly string[], state: object = archived): NewArchive => ({
  channel: SESSION,
  head: JSON.stringify(state),
  turns: { start: 0, items: ids.map((id) => ({ id, json: JSON.stringify(turn(id)) })) },
});
const step = (action: object, clientSeq?: number): NewEntry => ({
  channel: SESSION,
  time: 3_000,
  action: JSON.stringify(action),
  ...(clientSeq !== undefined && { origin: { clientId: 'desk', epoch: 1, clientSeq } }),
});
const started = (turnId: string, text: string) => step({ type: 'session/turnStarted', turnId, userMessage: { text } });

interface Contents {
  readonly archives?: readonly NewArchive[];
  /** Behind the archives. */
  readonly entries?: readonly NewEntry[];
  readonly records?: readonly LogRecord[];
}

/** A closed folder with a log of the old model. */
async function oldFolder(driver: SqliteDriver, contents: Contents): Promise<string> {
  const { archives = [archive(['t1'])], entries = [], records = [listing] } = contents;
  const dataDir = dataFolder();
  const log = await openLog(dataDir, { driver });
  await log.append({ entries: [step({ type: 'session/ready' })], archives, records, durability: 'full' });
  await log.append({ entries, durability: 'full' });
  await log.close();
  const db = driver.open(databaseOf(dataDir));
  db.exec('PRAGMA user_version = 2');
  db.close();
  return copyOf(dataDir);
}

/** Flips a bit in a text, where SQLite does not look. */
function damage(dataDir: string, text: string): void {
  const bytes = readFileSync(databaseOf(dataDir));
  const at = bytes.indexOf(text);
  if (at < 0) throw new Error(`${text} is not in the file`);
  const handle = openSync(databaseOf(dataDir), 'r+');
  writeSync(handle, Buffer.from([(bytes[at] ?? 0) ^ 1]), 0, 1, at);
  closeSync(handle);
}

async function contentsOf(log: Log) {
  const head = async (channel: string) => {
    const text = (await log.archiveHead(channel))?.head;
    return text === undefined ? undefined : JSON.parse(text);
  };
  const turns = (await log.archivedTurns(CHAT, ALL)).map(({ json }) => JSON.parse(json) as Turn);
  const list = await log.record(listing.key);
  return {
    session: (await head(SESSION)) as SessionState,
    chat: (await head(CHAT)) as ChatState,
    turns,
    said: turns.map(({ message }) => message.text),
    listed: list === undefined ? undefined : JSON.parse(list),
  };
}

describe.each(drivers)('a log of the 0.3.0 model ($name)', (driver) => {
  const open = (dataDir: string) => openLog(dataDir, { driver });
  const opened = async (contents: Contents) => open(await oldFolder(driver, contents));

  it('[REL-074] has the archive with everything behind it on two channels, and no entries', async () => {
    const entries = [
      started('t2', 'more'),
      step({ type: 'session/turnComplete', turnId: 't2' }),
      started('t3', 'and more'),
      step({ type: 'session/titleChanged', title: 'New' }, 7),
    ];
    const log = await opened({ entries });
    const { session, chat, said, listed } = await contentsOf(log);
    expect(session).toMatchObject({ title: 'New', defaultChat: CHAT, lifecycle: 'ready' });
    expect(session).not.toHaveProperty('summary');
    expect(chat).toMatchObject({ resource: CHAT, turns: [], activeTurn: { id: 't3', message: { text: 'and more' } } });
    expect(said).toEqual(['said in t1', 'more']);
    expect(listed).toMatchObject({
      summary: { title: 'New', createdAt: '1970-01-01T00:00:01.000Z', modifiedAt: '1970-01-01T00:00:03.000Z' },
      lifecycle: 'ready',
    });
    expect([log.head, log.oldest]).toEqual([6, 7]);
    expect(await log.read({ after: 0 })).toEqual([]);
    expect(await log.clientSeqs('desk', 1, 0)).toEqual([7]);
    expect(await log.missed(5, [SESSION], { entries: 10, bytes: 1_000 })).toBeUndefined();
    expect(log.repairs).toEqual([]);
  });

  it('[REL-074] has everything behind its archive, however much that is, and all turns, however long', async () => {
    const ids = Array.from({ length: 550 }, (_, at) => `n${at}`);
    const entries = ids.flatMap((id) => [started(id, id), step({ type: 'session/turnComplete', turnId: id })]);
    const long = ['l1', 'l2', 'l3'].map((id) => ({ ...turn(id), userMessage: { text: id.padEnd(900_000, '.') } }));
    const items = long.map((each) => ({ id: each.id, json: JSON.stringify(each) }));
    const head = JSON.stringify(archived);
    const log = await opened({ entries, archives: [{ channel: SESSION, head, turns: { start: 0, items } }] });
    const turns = await log.archivedTurns(CHAT, { start: 0, end: 999 });
    expect(turns.map(({ id }) => id)).toEqual(['l1', 'l2', 'l3', ...ids]);
    const said = turns.map(({ json }) => (JSON.parse(json) as Turn).message.text);
    expect(said.slice(0, 3).map(({ length }) => length)).toEqual([900_000, 900_000, 900_000]);
    expect(said.slice(3)).toEqual(ids);
    expect(await log.archivedTurns(SESSION, ALL)).toEqual([]);
    expect([log.oldest, await log.read({ after: 0 })]).toEqual([log.head + 1, []]);
  });

  it('[REL-074] is copied with what is beside it, where a connection keeps it from becoming one file', async () => {
    const dataDir = await oldFolder(driver, {});
    const other = driver.open(databaseOf(dataDir));
    onTestFinished(() => other.close());
    other.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0');
    other.exec(`INSERT INTO records (key, value) VALUES ('late', '"in the write-ahead file"')`);
    const note = { at: 'open', pid: process.pid, boot: currentBoot() };
    writeFileSync(`${dataDir}/atrium.owner`, JSON.stringify(note));
    const log = await openLog(dataDir, { driver });
    expect(await log.record('late')).toBe('"in the write-ahead file"');
    const copy = `${dataFolder()}/copy.db`;
    copyFileSync(`${databaseOf(dataDir)}.backup-0.3.0`, copy);
    const db = driver.open(copy);
    const late = db.prepare<{ count: number }>(`SELECT count(*) AS count FROM records WHERE key = 'late'`).get();
    db.close();
    expect(late?.count).toBe(1);
  });

  it('[REL-074] is moved once', async () => {
    const dataDir = await oldFolder(driver, { entries: [started('t2', 'more')] });
    const first = await open(dataDir);
    const contents = await contentsOf(first);
    await first.close();
    const second = await open(copyOf(dataDir));
    expect(await contentsOf(second)).toEqual(contents);
    expect(second.head).toBe(first.head);
  });

  it('cuts archived turns as an action behind the archive says', async () => {
    const archives = [archive(['t1', 't2', 't3'])];
    const cut = step({ type: 'session/truncated', turnId: 't1' });
    const again = [cut, started('t4', 'again'), step({ type: 'session/turnComplete', turnId: 't4' })];
    expect((await contentsOf(await opened({ archives, entries: again }))).said).toEqual(['said in t1', 'again']);
    const all = await contentsOf(await opened({ archives, entries: [step({ type: 'session/truncated' })] }));
    expect(all.said).toEqual([]);
  });

  it('keeps what waits for the end of a turn, and what was set for the host', async () => {
    const origin = { clientId: 'desk', epoch: 1, clientSeq: 3 };
    const held = [
      { action: { type: 'session/modelChanged', model: { id: 'm' } }, origin },
      { action: { type: 'session/agentChanged' }, origin: { ...origin, clientSeq: 4 } },
    ];
    const root = {
      agents: [],
      activeSessions: 1,
      config: { schema: { type: 'object', properties: {} }, values: { a: 1 } },
    };
    const archives = [
      archive([]),
      { channel: ROOT_CHANNEL, head: JSON.stringify(root), turns: { start: 0, items: [] } },
    ];
    const records = [
      listing,
      { key: `held:${SESSION}`, value: JSON.stringify(held) },
      { key: 'client:c', value: '{}' },
    ];
    const log = await opened({ archives, records });
    expect(JSON.parse((await log.record(`held:${SESSION}`)) ?? '')).toEqual([
      { action: { type: 'x-atrium/selectionChanged', model: { id: 'm' } }, origin },
      { action: { type: 'x-atrium/selectionChanged', agent: null }, origin: { ...origin, clientSeq: 4 } },
    ]);
    expect(await log.record('client:c')).toBe('{}');
    expect(JSON.parse((await log.archiveHead(ROOT_CHANNEL))?.head ?? '')).toEqual(root);
  });

  it('[REL-064] keeps what was set for the host when a later action of it is damaged', async () => {
    const config = (values: object) => ({ schema: { type: 'object', properties: {} }, values });
    const head = JSON.stringify({ agents: [], config: config({ a: 1 }) });
    const archives = [archive([]), { channel: ROOT_CHANNEL, head, turns: { start: 0, items: [] } }];
    const set = (values: object): NewEntry => ({
      ...step({ type: 'root/configChanged', config: values }),
      channel: ROOT_CHANNEL,
    });
    const dataDir = await oldFolder(driver, { archives, entries: [set({ b: 2 }), set({ damaged: 3 })] });
    damage(dataDir, 'damaged');
    const log = await open(dataDir);
    expect(JSON.parse((await log.archiveHead(ROOT_CHANNEL))?.head ?? '').config.values).toEqual({ a: 1, b: 2 });
  });

  it('[REL-074] says how many sessions it moves, in the log and, meanwhile, in a file', async () => {
    const dataDir = await oldFolder(driver, {});
    const told: unknown[] = [];
    const files: string[] = [];
    const log = (level: string, message: string, fields?: object) => {
      told.push([level, message, fields]);
      const file = `${dataDir}/atrium.upcast`;
      if (existsSync(file)) files.push(readFileSync(file, 'utf8'));
    };
    await openLog(dataDir, { driver, logger: { log } });
    expect(told).toContainEqual([
      'info',
      'moving stored sessions to the model of this version',
      { done: 0, sessions: 1 },
    ]);
    const done = { sessions: 1, ms: expect.any(Number) };
    expect(told).toContainEqual(['info', 'moved all stored sessions', done]);
    expect(files).toContain('{"done":0,"sessions":1}');
    expect(existsSync(`${dataDir}/atrium.upcast`)).toBe(false);
  });

  it.each([
    { passes: PROGRESS_EVERY_MS, told: [0, 0, 0, 1] },
    { passes: PROGRESS_EVERY_MS - 1, told: [0] },
  ])('[REL-074] says how far it is every two seconds, when $passes ms have passed', async ({ passes, told }) => {
    const dataDir = await oldFolder(driver, {});
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const done: unknown[] = [];
    const log = (_: string, message: string, fields: object = {}) => {
      if (!message.startsWith('moving')) return;
      done.push((fields as { done: number }).done);
      vi.advanceTimersByTime(passes);
    };
    await openLog(dataDir, { driver, logger: { log } });
    expect(done).toEqual(told);
  });

  it('keeps turns of a session that is on no list, for the rest of its import or its fork', async () => {
    const unfinished = { key: `unfinished:${SESSION}`, value: '1' };
    const imported = await opened({ archives: [archive(['t1', 't2'], {})], records: [unfinished] });
    expect(await imported.archiveHead(SESSION)).toBeUndefined();
    expect(await imported.archiveHead(CHAT)).toMatchObject({ head: '{}', turnCount: 2 });
    expect((await contentsOf(imported)).said).toEqual(['said in t1', 'said in t2']);
    expect(await imported.record('log:rebuilt')).toBeUndefined();
  });

  it('[REL-064] puts a turn that says so in the place of a damaged one', async () => {
    const dataDir = await oldFolder(driver, { archives: [archive(['t1', 't2', 't3'])] });
    damage(dataDir, 'said in t2');
    const log = await open(dataDir);
    const { said, turns } = await contentsOf(log);
    expect(said).toEqual(['said in t1', expect.stringContaining('damaged'), 'said in t3']);
    expect(turns[1]?.id).toBe('t2');
    expect(log.repairs).toMatchObject([{ message: expect.stringContaining(`turn 1 (t2) of ${SESSION}`) }]);
    expect(readFileSync(log.repairs[0]?.keptAt ?? '', 'utf8')).toContain('"id":"t2"');
  });

  it('[REL-064] puts a turn that says so in the place of one that cannot be understood, and keeps its bytes', async () => {
    const { turns: whole, ...rest } = archive(['t1', 't2']);
    const items = whole.items.map((item) => (item.id === 't2' ? { ...item, json: 'null' } : item));
    const log = await opened({ archives: [{ ...rest, turns: { ...whole, items } }] });
    const { said, turns } = await contentsOf(log);
    expect(said).toEqual(['said in t1', expect.stringContaining('damaged')]);
    expect(turns[1]).toMatchObject({ id: 't2', state: 'error' });
    expect(log.repairs).toMatchObject([{ message: expect.stringContaining('turn t2 of ahp-') }]);
    expect(readFileSync(log.repairs[0]?.keptAt ?? '', 'utf8')).toBe('null');
  });

  it('[REL-064] makes a damaged archive anew from the list; a turn that misses something ends', async () => {
    const dataDir = await oldFolder(driver, { entries: [started('t2', 'more')] });
    damage(dataDir, 'From the archive');
    const log = await open(dataDir);
    const { session, chat, said, turns } = await contentsOf(log);
    expect(session.title).toBe('From the list');
    expect(chat.activeTurn).toBeUndefined();
    expect(said).toEqual(['said in t1', 'more']);
    expect(turns[1]).toMatchObject({
      state: 'error',
      responseParts: [{ kind: 'error', error: { errorType: 'damaged' } }],
    });
    expect(log.repairs).toHaveLength(1);
  });

  it('[REL-064] ends a turn of which an action is damaged', async () => {
    const part = {
      type: 'session/responsePart',
      turnId: 't2',
      part: { kind: 'markdown', id: 'p', content: 'lost words' },
    };
    const dataDir = await oldFolder(driver, { entries: [started('t2', 'more'), step(part)] });
    damage(dataDir, 'lost words');
    const { turns } = await contentsOf(await open(dataDir));
    expect(turns.map(({ id, state }) => [id, state])).toEqual([
      ['t1', 'complete'],
      ['t2', 'error'],
    ]);
  });

  it('[REL-063] makes what the list lost from the archive, and what the archives lost from the list', async () => {
    const rebuilt = { key: 'log:rebuilt', value: '{}' };
    const unlisted = await contentsOf(await opened({ records: [rebuilt] }));
    expect(unlisted.listed).toMatchObject({ summary: { title: 'From the archive' } });
    const entries = [started('t1', 'old'), step({ type: 'session/turnComplete', turnId: 't1' }), started('t2', 'more')];
    // Whole lists are believed: what is on none was removed.
    expect((await contentsOf(await opened({ records: [] }))).listed).toBeUndefined();
    const unfinished = { key: `unfinished:${SESSION}`, value: '1' };
    expect((await contentsOf(await opened({ records: [rebuilt, unfinished] }))).listed).toBeUndefined();
    const lost = await contentsOf(await opened({ archives: [], entries, records: [listing, rebuilt] }));
    expect(lost.session).toMatchObject({ title: 'From the list', lifecycle: 'ready' });
    expect(lost.chat.activeTurn).toMatchObject({ id: 't2' });
  });

  it('[REL-063] is moved when it was damaged beyond its header and had to be rebuilt', async () => {
    const dataDir = await oldFolder(driver, {});
    const handle = openSync(databaseOf(dataDir), 'r+');
    writeSync(handle, Buffer.alloc(4_096), 0, 4_096, 0);
    closeSync(handle);
    rmSync(`${dataDir}/atrium.owner`, { force: true });
    const log = await open(dataDir);
    expect(log.repairs).toMatchObject([{ isRebuilt: true }]);
    const { session, said, listed } = await contentsOf(log);
    expect([session.title, said]).toEqual(['From the archive', ['said in t1']]);
    expect(listed).toMatchObject({ summary: { createdAt: '1970-01-01T00:00:01.000Z' } });
  });

  it.each([
    { what: 'turns', contents: { archives: [archive(['t1'], {})], records: [] } },
    { what: 'the list', contents: { archives: [], records: [listing] } },
    { what: 'archives', contents: { archives: [archive([])], records: [] } },
  ])('[REL-063] is known as such by its $what, when its header is lost', async ({ contents }) => {
    const dataDir = await oldFolder(driver, contents);
    const handle = openSync(databaseOf(dataDir), 'r+');
    writeSync(handle, Buffer.alloc(4_096), 0, 4_096, 0);
    closeSync(handle);
    rmSync(`${dataDir}/atrium.owner`, { force: true });
    await (await open(dataDir)).close();
    expect(existsSync(`${databaseOf(dataDir)}.backup-0.3.0`)).toBe(true);
  });

  it('keeps what the list says of a session whose state cannot be understood, and its turns', async () => {
    const odd = { ...archived, inputRequests: 'none', turns: 3 };
    const { session, said } = await contentsOf(await opened({ archives: [archive(['t1'], odd)] }));
    expect([session.title, said]).toEqual(['From the list', ['said in t1']]);
  });

  it('[REL-063] lists a session anew whose list entry cannot be read', async () => {
    const dataDir = await oldFolder(driver, {});
    damage(dataDir, 'From the list');
    const log = await open(dataDir);
    expect((await contentsOf(log)).listed).toMatchObject({
      summary: { title: 'From the archive', createdAt: '1970-01-01T00:00:01.000Z' },
    });
    expect(log.repairs).toHaveLength(1);
    const odd = await opened({
      records: [{ key: listing.key, value: '{"summary":7}' }],
      archives: [archive(['t1'], {})],
    });
    expect((await contentsOf(odd)).said).toEqual(['said in t1']);
    expect([await odd.record(listing.key), await odd.record('log:rebuilt')]).toEqual([undefined, '{}']);
    const saved = { key: 'log:rebuilt', value: '{"turns":1}' };
    const again = await opened({ records: [{ ...listing, value: '7' }, saved], archives: [archive(['t1'], {})] });
    expect([await again.record(listing.key), await again.record('log:rebuilt')]).toEqual([undefined, saved.value]);
  });

  it('[REL-074] leaves a copy that is never overwritten', async () => {
    const dataDir = await oldFolder(driver, {});
    const backup = `${databaseOf(dataDir)}.backup-0.3.0`;
    const bytes = readFileSync(databaseOf(dataDir));
    await (await open(dataDir)).close();
    expect(readFileSync(backup).equals(bytes)).toBe(true);
    const other = await oldFolder(driver, { entries: [started('t2', 'more')] });
    const second = copyOf(other);
    writeFile(`${databaseOf(second)}.backup-0.3.0`, 'precious');
    await (await open(second)).close();
    expect(readFileSync(`${databaseOf(second)}.backup-0.3.0`, 'utf8')).toBe('precious');
    expect(existsSync(`${databaseOf(second)}.backup-0.3.0-2`)).toBe(true);
    expect(existsSync(`${databaseOf(second)}.backup.new`)).toBe(false);
  });
});

describe('the copy of an older log', () => {
  it('[REL-074] is made once of the same bytes, and beside one of others', () => {
    const file = `${dataFolder()}/log`;
    const put = (text: string) => writeFileSync(file, text);
    put('a'.repeat(3_000_000));
    expect([backUp(file), backUp(file)]).toEqual([`${file}.backup-0.3.0`, `${file}.backup-0.3.0`]);
    put(`${'a'.repeat(2_999_999)}b`);
    expect(backUp(file)).toBe(`${file}.backup-0.3.0-2`);
    put('short');
    expect([backUp(file), backUp(file)]).toEqual([`${file}.backup-0.3.0-3`, `${file}.backup-0.3.0-3`]);
    expect(readFileSync(`${file}.backup-0.3.0-2`, 'utf8').at(-1)).toBe('b');
    expect(existsSync(`${file}.backup.new`)).toBe(false);
  });

  it('[REL-074] leaves nothing behind when it cannot be made', () => {
    const folder = dataFolder();
    expect(() => backUp(`${folder}/none`)).toThrow('ENOENT');
    expect(readdirSync(folder)).toEqual([]);
  });
});

function writeFile(file: string, text: string): void {
  const handle = openSync(file, 'wx', 0o600);
  writeSync(handle, text);
  closeSync(handle);
}
