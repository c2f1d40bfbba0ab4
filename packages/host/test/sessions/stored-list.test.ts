/** The list of sessions of a host with a database: what it reads, when, and what it does about a record that is damaged. */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { DirectDelivery } from '@atrium/core/channels/delivery.js';
import { Writer } from '@atrium/core/channels/writer.js';
import type { Log } from '@atrium/core/log/log.js';
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import { Catalogue } from '@atrium/core/sessions/catalogue.js';
import { systemClock } from '@atrium/core/util/clock.js';
import { silentLogger } from '@atrium/core/util/logger.js';
import { PINNED_META_KEY, type SessionSummary } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import type { SqliteLog } from '../../src/log-sqlite/sqlite-log.js';
import { databaseOf } from '../support/log-damage.js';
import { copyOf, dataFolder, drivers, openLog } from '../support/log-folders.js';

const uriOf = (index: number) => `${index % 10 === 3 ? 'mock' : 'ahp-session'}:/s${index}`;

function summary(index: number, second = index): SessionSummary {
  return {
    resource: uriOf(index),
    provider: `agent-${index % 3}`,
    // The list finds members in the text of a record, and must not take this title for one.
    title: index % 9 === 4 ? `Séance ${index}, "modifiedAt":"9"` : `Session ${index}`,
    status: 1 + (index % 2),
    createdAt: new Date(0).toISOString(),
    modifiedAt: new Date(second * 1_000).toISOString(),
    workingDirectories: [`file:///work/${index % 4}`],
    ...(index % 5 === 0 && { project: { uri: `file:///project/${index % 2}`, displayName: 'P' } }),
    ...(index % 7 === 0 && { origin: { kind: 'tool', session: uriOf(1) } as never }),
    ...(index % 9 === 5 && { changes: { modifiedAt: '9' } as never }),
    ...(index % 6 === 0 && { _meta: { [PINNED_META_KEY]: true } }),
  };
}

function listOf(log: Log, restored: (summary: SessionSummary) => void = () => {}) {
  const nothing = () => {};
  const delivery = new DirectDelivery({ shown: log.head, logger: silentLogger, show: nothing });
  const base = { log, clock: systemClock, logger: silentLogger, delivery, undone: nothing, superseded: nothing };
  const writer = new Writer(base);
  return { writer, catalogue: new Catalogue(log, writer, nothing, nothing, restored) };
}

/** Stores so many sessions, of which every eleventh is disposed and every thirteenth is not ready. */
async function fill(log: Log, count: number): Promise<void> {
  const indexes = Array.from({ length: count }, (_, index) => index);
  await log.append({
    entries: [],
    archives: indexes.map((index) => {
      const { provider, title, status } = summary(index);
      const head = { provider, title, status, lifecycle: 'ready', activeClients: [], chats: [] };
      return { channel: uriOf(index), head: JSON.stringify(head), turns: { start: 0, items: [] } };
    }),
    records: indexes.map((index) => {
      const lifecycle = index % 13 === 12 ? 'creating' : 'ready';
      const entry = { summary: summary(index), lifecycle, ...(index % 11 === 10 && { disposedAt: index }) };
      return { key: `session:${uriOf(index)}`, value: JSON.stringify(entry) };
    }),
    durability: 'full',
  });
}

/** Everything that a list can be asked. */
function answers(catalogue: Catalogue, count: number) {
  const uris = Array.from({ length: count }, (_, index) => uriOf(index));
  const pages: string[] = [];
  for (let cursor: string | undefined; pages.length < 100; ) {
    const page = catalogue.page({ limit: 7, cursor });
    pages.push(page.text);
    cursor = page.nextCursor;
    if (cursor === undefined) break;
  }
  return {
    ...{ pages, count: catalogue.count, whole: catalogue.page().text },
    stored: catalogue.stored().sort(),
    disposed: catalogue.disposed().sort((a, b) => a.at - b.at),
    folders: [catalogue.folders(), [...catalogue.workingFolders()].sort()],
    newest: ['/work/1', '/project/1', '/none'].map((folder) => catalogue.newestIn(`file://${folder}`)),
    searchable: [...catalogue.searchable()].sort((a, b) => (a.uri < b.uri ? -1 : 1)),
    each: uris.map((uri) => [
      catalogue.find(uri),
      catalogue.providerOf(uri),
      catalogue.isListed(uri),
      catalogue.has(uri),
    ]),
    namesake: catalogue.namesakeOf('/s3'),
  };
}

/** A log that counts the records that are read one by one, and how often all are looked into. */
function counted(log: SqliteLog): { readonly log: Log; readonly read: string[]; readonly glances: () => number } {
  const read: string[] = [];
  let glances = 0;
  const atHand = log.recordsAtHand.bind(log);
  log.recordsAtHand = (prefix) => {
    const records = atHand(prefix);
    const counting = (keys: readonly string[]) => {
      read.push(...keys);
      return records.read(keys);
    };
    const each: typeof records.each = (visit, damaged) =>
      records.each((record) => {
        read.push(record.key);
        visit(record);
      }, damaged);
    const glance: typeof records.glance = (...args) => {
      glances += 1;
      records.glance(...args);
    };
    return { ...records, read: counting, each, glance };
  };
  log.eachRecord = async (prefix) => {
    if (prefix === 'session:') throw new Error('all records were read');
  };
  return { log, read, glances: () => glances };
}

describe.each(drivers)('a list of sessions in a database ($name)', (driver) => {
  it('[GRO-004] answers everything as a list in memory does, before and after changes', async () => {
    const count = 60;
    const memory = listOf(new MemoryLog());
    const dataDir = dataFolder();
    const database = await openLog(dataDir, { driver });
    const stored = listOf(database);
    for (const { catalogue } of [memory, stored]) {
      await fill((catalogue as unknown as { log: Log }).log, count);
      await catalogue.load();
    }
    for (const { catalogue, writer } of [memory, stored]) {
      // Nothing was asked yet: what changes now is told by nobody but the list itself.
      catalogue.set(uriOf(8), { summary: summary(8, 500), lifecycle: 'ready' });
      catalogue.set(uriOf(9), { summary: summary(9), lifecycle: 'ready', disposedAt: 9 });
      catalogue.remove(uriOf(20));
      await writer.settled();
    }
    expect(answers(stored.catalogue, count)).toEqual(answers(memory.catalogue, count));
    for (const { catalogue, writer } of [memory, stored]) {
      catalogue.set(uriOf(30), { summary: summary(30, 600), lifecycle: 'ready' });
      catalogue.set(uriOf(70), { summary: summary(70), lifecycle: 'ready' });
      catalogue.remove(uriOf(31));
      await writer.settled();
    }
    expect(answers(stored.catalogue, 71)).toEqual(answers(memory.catalogue, 71));
  });

  it('[GRO-004] opens without reading the records of those that are ready, and a page reads its own', async () => {
    const dataDir = dataFolder();
    const first = await openLog(dataDir, { driver });
    await fill(first, 200);
    await first.close();
    const { log, read } = counted(await openLog(dataDir, { driver }));
    const { catalogue } = listOf(log);
    await catalogue.load();
    const isOther = (index: number) => index % 13 === 12 || index % 11 === 10;
    const others = Array.from({ length: 200 }, (_, index) => index).filter(isOther);
    expect(read.sort()).toEqual(others.map((index) => `session:${uriOf(index)}`).sort());
    read.length = 0;
    expect(catalogue.count).toBe(200 - others.filter((index) => index % 11 === 10).length);
    expect([catalogue.workingFolders().size, [...catalogue.searchable()].length]).toEqual([4, catalogue.count]);
    expect(read).toEqual([]);
    expect(JSON.parse(catalogue.page({ limit: 5 }).text)[0]).toEqual(summary(199));
    // One of the five was read at the start: it is not ready.
    const own = [199, 198, 196, 195].map((index) => `session:${uriOf(index)}`);
    expect(read).toEqual(own);
    catalogue.page({ limit: 5 });
    expect(read).toEqual(own);
  });

  it.each([200, 1_200])(
    '[GRO-004] reads each of %i records once for the whole list, and takes its order from them',
    async (count) => {
      const dataDir = dataFolder();
      const first = await openLog(dataDir, { driver });
      await fill(first, count);
      await first.close();
      const { log, read, glances } = counted(await openLog(dataDir, { driver }));
      const { catalogue } = listOf(log);
      await catalogue.load();
      read.length = 0;
      const listed = JSON.parse(catalogue.page().text) as SessionSummary[];
      expect(listed).toHaveLength(catalogue.count);
      expect(listed.map(({ modifiedAt }) => modifiedAt)).toEqual(
        listed
          .map(({ modifiedAt }) => modifiedAt)
          .sort()
          .reverse(),
      );
      expect(new Set(read).size).toBe(read.length);
      catalogue.page();
      expect([read.length <= count, glances()]).toEqual([true, 0]);
    },
  );

  it('[REL-063] makes a record anew that turns out to be damaged, and says so', async () => {
    const dataDir = dataFolder();
    const first = await openLog(dataDir, { driver });
    await fill(first, 40);
    await first.close();
    const copy = copyOf(dataDir);
    const file = databaseOf(copy);
    const bytes = readFileSync(file);
    const at = bytes.indexOf('Session 17', bytes.indexOf(`{"summary":{"resource":"${uriOf(17)}"`));
    const handle = openSync(file, 'r+');
    writeSync(handle, 'F', at);
    closeSync(handle);
    const log = await openLog(copy, { driver });
    const restored: string[] = [];
    const { catalogue, writer } = listOf(log, ({ resource }) => restored.push(resource));
    await catalogue.load();
    expect([catalogue.isListed(uriOf(17)), log.repairs]).toEqual([true, []]);
    expect(catalogue.page().text).not.toContain('Fession 17');
    expect([catalogue.isListed(uriOf(17)), log.repairs.length]).toEqual([false, 1]);
    expect((await catalogue.restoredEntry(uriOf(17)))?.summary.title).toBe('Session 17');
    expect(restored).toEqual([uriOf(17)]);
    await writer.settled();
    expect(catalogue.page().text).toContain('Session 17');
    const next = listOf(log).catalogue;
    await next.load();
    expect([next.count, next.find(uriOf(17))?.summary.provider]).toEqual([catalogue.count, 'agent-2']);
  });
});
