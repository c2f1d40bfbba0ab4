/** The list of sessions by itself: what is on it, in which order, page by page, and what is announced. */
import type { SessionSummary } from '@atrium/protocol/ahp-1';
import { describe, expect, it, vi } from 'vitest';
import { DirectDelivery } from '../../src/channels/delivery.js';
import { Writer } from '../../src/channels/writer.js';
import { MemoryLog } from '../../src/log/memory-log.js';
import { Catalogue, isCursor, stateOf, summaryChanges } from '../../src/sessions/catalogue.js';
import { silentLogger } from '../../src/util/logger.js';

const at = (second: number) => new Date(second * 1_000).toISOString();
const summary = (name: string, second: number, more: Partial<SessionSummary> = {}): SessionSummary => ({
  resource: `ahp-session:/${name}`,
  provider: `agent-${name}`,
  title: name,
  status: 1,
  createdAt: at(0),
  modifiedAt: at(second),
  ...more,
});

async function listing(...entries: (readonly [SessionSummary, { readonly disposedAt?: number }?])[]) {
  const log = new MemoryLog();
  const clock = { now: () => 0, after: () => () => {} };
  const nothing = () => {};
  const delivery = new DirectDelivery({ shown: 0, logger: silentLogger, show: nothing });
  const writer = new Writer({ log, clock, logger: silentLogger, delivery, undone: nothing, superseded: nothing });
  const changed: unknown[] = [];
  const make = () => new Catalogue(log, writer, (uri, changes) => changed.push([uri, changes]));
  const catalogue = make();
  const set = async (one: SessionSummary, more: { readonly disposedAt?: number } = {}) => {
    catalogue.set(one.resource, { summary: one, lifecycle: 'ready', ...more });
    await writer.settled();
  };
  for (const [one, more] of entries) await set(one, more);
  /** As the next host finds it. */
  const reloaded = async () => {
    const next = make();
    await next.load();
    return next;
  };
  return { catalogue, writer, changed, set, reloaded };
}

const titles = (text: string) => (JSON.parse(text) as SessionSummary[]).map(({ title }) => title);

describe('the list of sessions', () => {
  it('[UP-032] has the most recently modified first; two of the same moment keep their order', async () => {
    const { catalogue, reloaded } = await listing(
      [summary('b', 2)],
      [summary('c', 2)],
      [summary('a', 1)],
      [summary('d', 3)],
    );
    expect(titles(catalogue.page().text)).toEqual(['d', 'b', 'c', 'a']);
    expect(titles((await reloaded()).page().text)).toEqual(['d', 'b', 'c', 'a']);
  });

  it('[UP-032] reads a cursor once, however long it is', async () => {
    const many = Array.from({ length: 3_000 }, (_, index) => [summary(`s${index}`, index)] as const);
    const { catalogue } = await listing(...many);
    const cursor = Buffer.from(JSON.stringify(['', 'x'.repeat(4_000_000)])).toString('base64url');
    // Once for each session it would take longer than a test may.
    expect(catalogue.page({ cursor }).text).toBe('[]');
  });

  it('[UP-032] comes in pages, each behind the last one, and the last has no cursor', async () => {
    const { catalogue } = await listing(...['a', 'b', 'c', 'd', 'e'].map((name) => [summary(name, 1)] as const));
    const first = catalogue.page({ limit: 2 });
    expect(titles(first.text)).toEqual(['a', 'b']);
    const second = catalogue.page({ limit: 2, cursor: first.nextCursor });
    expect(titles(second.text)).toEqual(['c', 'd']);
    const third = catalogue.page({ limit: 2, cursor: second.nextCursor });
    expect([titles(third.text), third.nextCursor]).toEqual([['e'], undefined]);
    expect(catalogue.page({ limit: 5 }).nextCursor).toBeUndefined();
    expect(titles(catalogue.page({ cursor: first.nextCursor }).text)).toEqual(['c', 'd', 'e']);
    for (const { nextCursor } of [first, second]) expect(isCursor(nextCursor ?? '')).toBe(true);
  });

  it('[UP-032] leaves nothing out that does not change between two pages', async () => {
    const { catalogue, set } = await listing(
      [summary('a', 5)],
      [summary('b', 4)],
      [summary('c', 3)],
      [summary('d', 2)],
    );
    const { nextCursor } = catalogue.page({ limit: 2 });
    await set(summary('b', 9));
    expect(titles(catalogue.page({ cursor: nextCursor }).text)).toEqual(['c', 'd']);
    await set(summary('c', 10));
    expect(titles(catalogue.page({ cursor: nextCursor }).text)).toEqual(['d']);
    await set(summary('d', 11));
    expect(titles(catalogue.page({ cursor: nextCursor }).text)).toEqual([]);
  });

  it.each(['', 'x', btoa('{}'), btoa('[1,2]'), btoa('["a"]'), btoa('["a","b","c"]'), btoa('["a",1]')])(
    '[UP-032] has no page behind %j',
    (text) => expect(isCursor(text)).toBe(false),
  );

  it('[AHP-036] has no disposed sessions, which are known all the same', async () => {
    const { catalogue, reloaded } = await listing([summary('a', 1)], [summary('b', 2), { disposedAt: 7 }]);
    for (const list of [catalogue, await reloaded()]) {
      expect([titles(list.page().text), list.count]).toEqual([['a'], 1]);
      expect(['a', 'b', 'c'].map((name) => list.isListed(`ahp-session:/${name}`))).toEqual([true, false, false]);
      expect(list.disposed()).toEqual([{ uri: 'ahp-session:/b', at: 7 }]);
      expect(list.stored().sort()).toEqual(['ahp-session:/a', 'ahp-session:/b']);
      expect(list.find('ahp-session:/a')).toEqual({ summary: summary('a', 1), lifecycle: 'ready' });
      expect(list.find('ahp-session:/b')).toEqual({ summary: summary('b', 2), lifecycle: 'ready', disposedAt: 7 });
      expect([list.providerOf('ahp-session:/b'), list.providerOf('ahp-session:/c')]).toEqual(['agent-b', undefined]);
      expect(list.find('ahp-session:/c')).toBeUndefined();
    }
  });

  it('shows a change when it is stored, and announces it; what never changes is not announced', async () => {
    const { catalogue, writer, changed } = await listing([summary('a', 1)]);
    const uri = 'ahp-session:/a';
    catalogue.set(uri, { summary: summary('a', 2, { activity: 'Reading' }), lifecycle: 'ready' });
    catalogue.set(uri, { summary: summary('a', 3, { title: 'A' }), lifecycle: 'ready' });
    expect([catalogue.find(uri)?.summary.title, catalogue.current(uri)?.summary.title]).toEqual(['a', 'A']);
    await writer.settled();
    expect(changed).toEqual([[uri, { title: 'A', modifiedAt: at(3) }]]);
    expect([catalogue.find(uri)?.summary.title, catalogue.current(uri)?.summary.title]).toEqual(['A', 'A']);
    catalogue.set(uri, { summary: summary('a', 3, { title: 'A' }), lifecycle: 'ready', disposedAt: 1 });
    await writer.settled();
    catalogue.set(uri, { summary: summary('a', 4), lifecycle: 'ready' });
    await writer.settled();
    expect(changed).toHaveLength(1);
    expect(titles(catalogue.page().text)).toEqual(['a']);
  });

  it('forgets a session that is removed, in all that it knows', async () => {
    const folder = { workingDirectories: ['file:///work/a'] };
    const { catalogue, writer, reloaded } = await listing([summary('a', 1, folder)], [summary('b', 2)]);
    expect(titles(catalogue.page().text)).toEqual(['b', 'a']);
    expect([...catalogue.workingFolders()]).toEqual(['/work/a']);
    catalogue.remove('ahp-session:/a');
    await writer.settled();
    for (const list of [catalogue, await reloaded()]) {
      expect([titles(list.page().text), [...list.workingFolders()], list.stored()]).toEqual([
        ['b'],
        [],
        ['ahp-session:/b'],
      ]);
    }
  });
});

describe('a session with a scheme of its own', () => {
  it('[V1-007] is found by what stands behind the colon, while it is the only one', async () => {
    const { catalogue, set, writer } = await listing([summary('one', 1)]);
    expect(catalogue.namesakeOf('/one')).toBeUndefined();
    await set(summary('one', 1, { resource: 'mock:/one' }));
    expect(catalogue.namesakeOf('/one')).toBe('mock:/one');
    await set(summary('one', 2, { resource: 'other:/one' }));
    expect(catalogue.namesakeOf('/one')).toBeUndefined();
    catalogue.remove('other:/one');
    await writer.settled();
    expect(catalogue.namesakeOf('/one')).toBe('mock:/one');
  });
});

describe('the folders of listed sessions', () => {
  it('are those of their projects, or the first that they work in, the latest first and each once', async () => {
    const works = (...workingDirectories: string[]) => ({ workingDirectories });
    const { catalogue } = await listing(
      [summary('a', 1, works('file:///work/a', 'file:///work/second'))],
      [summary('b', 4, { ...works('file:///work/b'), project: { uri: 'file:///project', displayName: 'P' } })],
      [summary('c', 3, works('file:///work/a'))],
      [summary('d', 2)],
      [summary('e', 5, works('https://elsewhere/x'))],
      [summary('f', 6, works('file://host/share')), {}],
      [summary('g', 7, works('file:///work/disposed')), { disposedAt: 1 }],
    );
    expect(catalogue.folders()).toEqual(['/project', '/work/a']);
    expect([...catalogue.workingFolders()].sort()).toEqual(['/work/a', '/work/b', '/work/second']);
  });

  it('are the same object until one of them changes', async () => {
    const works = { workingDirectories: ['file:///work/a'] };
    const { catalogue, set } = await listing([summary('a', 1, works)]);
    const before = catalogue.workingFolders();
    await set(summary('a', 2, { ...works, title: 'other' }));
    expect(catalogue.workingFolders()).toBe(before);
    await set(summary('a', 3, { workingDirectories: ['file:///work/b'] }));
    expect([...catalogue.workingFolders()]).toEqual(['/work/b']);
    await set(summary('a', 3, { workingDirectories: ['file:///work/b'] }), { disposedAt: 1 });
    expect([...catalogue.workingFolders()]).toEqual([]);
  });
});

describe('what changed of a summary', () => {
  const before = summary('a', 1, { activity: 'Reading', workingDirectories: ['file:///a'] });

  it('is nothing for an equal one', () => {
    expect(summaryChanges(before, before)).toBeUndefined();
    expect(summaryChanges(before, structuredClone(before))).toBeUndefined();
    expect(summaryChanges(before, { ...before, createdAt: at(9), provider: 'x' })).toBeUndefined();
  });

  it('is every member that is new, other or gone', () => {
    const { activity: _gone, ...rest } = before;
    const after = { ...rest, status: 8, workingDirectories: ['file:///b'], _meta: { a: 1 } };
    expect(summaryChanges(before, after)).toEqual({
      activity: null,
      status: 8,
      workingDirectories: ['file:///b'],
      _meta: { a: 1 },
    });
  });
});

describe('a session that only the list knows', () => {
  it('[REL-063] has an empty chat, and does nothing', () => {
    const entry = { summary: summary('a', 1, { status: 8 | 32, changes: {} }), lifecycle: 'ready' as const };
    const state = stateOf(entry);
    expect(state).toMatchObject({ title: 'a', status: 1 | 32, lifecycle: 'ready', activeClients: [] });
    expect(state.chats).toEqual([
      expect.objectContaining({ resource: state.defaultChat, modifiedAt: at(1), status: 1 }),
    ]);
    for (const member of ['resource', 'createdAt', 'modifiedAt', 'changes']) expect(state).not.toHaveProperty(member);
  });

  it('[REL-063] has its other chats as they were listed, each once', () => {
    const { defaultChat } = stateOf({ summary: summary('a', 1), lifecycle: 'ready' });
    const chat = (resource: string) => ({ resource, title: resource, status: 1, modifiedAt: at(1) });
    const chats = [chat(defaultChat ?? ''), chat('ahp-chat:/b'), chat('ahp-chat:/c')];
    const state = stateOf({ summary: summary('a', 1, { chats }), lifecycle: 'ready' });
    expect(state.chats.map(({ resource }) => resource)).toEqual([defaultChat, 'ahp-chat:/b', 'ahp-chat:/c']);
  });
});

describe('a long list of sessions', () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => [summary(`s${index}`, index)] as const);

  it('[GRO-004] is there without a record being parsed; those that are disposed of are told by the end of their text', async () => {
    const { reloaded, set } = await listing(...many(50));
    await set(summary('s7', 7, { title: 'with "lifecycle":"ready"} in it' }));
    await set(summary('gone', 1), { disposedAt: 5 });
    const parse = vi.spyOn(JSON, 'parse');
    const catalogue = await reloaded();
    const parsed = parse.mock.calls.length;
    expect([catalogue.count, catalogue.isListed('ahp-session:/s3'), catalogue.isListed('ahp-session:/gone')]).toEqual([
      50,
      true,
      false,
    ]);
    parse.mockRestore();
    expect(parsed).toBeLessThanOrEqual(1);
    expect(catalogue.find('ahp-session:/s7')?.summary.title).toBe('with "lifecycle":"ready"} in it');
    expect(catalogue.disposed()).toEqual([{ uri: 'ahp-session:/gone', at: 5 }]);
    expect(titles(catalogue.page({ limit: 2 }).text)).toEqual(['s49', 's48']);
  });

  it('[GRO-004] is read page by page, and a change sorts and parses one session, not all', async () => {
    const { catalogue, set } = await listing(...many(1_000));
    catalogue.page();
    const parse = vi.spyOn(JSON, 'parse');
    await set(summary('s10', 5_000));
    let cursor: string | undefined;
    const read: string[] = [];
    do {
      const page = catalogue.page({ limit: 100, cursor });
      cursor = page.nextCursor;
      read.push(page.text);
    } while (cursor !== undefined);
    const parsed = parse.mock.calls.length;
    parse.mockRestore();
    // Ten cursors, and the one session before and after.
    expect(parsed).toBeLessThan(20);
    const shown = read.flatMap(titles);
    expect([shown.length, new Set(shown).size, shown[0], shown[1]]).toEqual([1_000, 1_000, 's10', 's999']);
  });

  it('[GRO-004] stays in order whatever comes, changes and goes', async () => {
    const { catalogue, set, writer, reloaded } = await listing(...many(20));
    catalogue.page();
    for (let step = 0; step < 60; step++) {
      const name = `s${(step * 7) % 25}`;
      if (step % 5 === 4) catalogue.remove(`ahp-session:/${name}`);
      else if (step % 5 === 3) await set(summary(name, step), { disposedAt: step });
      else await set(summary(name, (step * 13) % 40));
      await writer.settled();
      expect(titles(catalogue.page().text)).toEqual(titles((await reloaded()).page().text));
      expect(catalogue.count).toBe((await reloaded()).count);
    }
  });
});
