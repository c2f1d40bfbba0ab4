/** The list of sessions by itself: what is on it, in which order, page by page, and what is announced. */
import { defaultChatUri, type SessionSummary } from '@atrium/protocol/ahp-1';
import { describe, expect, it, vi } from 'vitest';
import { DirectDelivery } from '../../src/channels/delivery.js';
import { Writer } from '../../src/channels/writer.js';
import { type LogEntry, REBUILT_RECORD } from '../../src/log/log.js';
import { MemoryLog } from '../../src/log/memory-log.js';
import { Catalogue, isCursor, recoverList, stateOf, summaryChanges } from '../../src/sessions/catalogue.js';
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
  return { catalogue, writer, changed, set, reloaded, log };
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

describe('a list that is made again after the log was damaged', () => {
  const A = 'ahp-session:/a';
  const CHAT = defaultChatUri(A);
  const NOW = 9_000;
  const message = (text: string) => ({ text, origin: { kind: 'user' } });
  const turn = (id: string, text: string) => ({ id, message: message(text), responseParts: [], state: 'complete' });
  const archiveOf = (channel: string, head: object, turns: readonly { id: string }[] = []) => ({
    ...{ channel, head: JSON.stringify(head) },
    turns: { start: 0, items: turns.map((each) => ({ id: each.id, json: JSON.stringify(each) })) },
  });
  const entry = (channel: string, action: object) => ({ channel, time: 1_000, action: JSON.stringify(action) });
  const started = (id: string, text: string) =>
    entry(CHAT, { type: 'chat/turnStarted', turnId: id, startedAt: at(1), message: message(text) });
  const said = (id: string) =>
    entry(CHAT, { type: 'chat/responsePart', turnId: id, part: { kind: 'markdown', id: 'p', content: 'x' } });
  const ended = (id: string) => entry(CHAT, { type: 'chat/turnComplete', turnId: id, duration: 1 });

  interface Given {
    readonly salvaged?: string;
    readonly archives?: readonly ReturnType<typeof archiveOf>[];
    readonly entries?: readonly ReturnType<typeof entry>[];
    readonly listed?: readonly SessionSummary[];
    readonly unfinished?: readonly string[];
    /** An entry whose text contains this is damaged. */
    readonly damaged?: string;
    readonly isHeadDamaged?: boolean;
  }

  async function recovered({ salvaged = '{}', archives = [], entries = [], listed = [], ...given }: Given) {
    const { catalogue, writer, set, log } = await listing();
    const records = salvaged === '' ? [] : [{ key: REBUILT_RECORD, value: salvaged }];
    await log.append({ entries, archives, records, durability: 'normal' });
    for (const one of listed) await set(one);
    const read = log.read.bind(log);
    const isDamaged = ({ action }: LogEntry) => given.damaged !== undefined && action.includes(given.damaged);
    log.read = async (range) =>
      (await read(range)).map((each) => (isDamaged(each) ? { ...each, action: '', isDamaged: true } : each));
    const archiveHead = log.archiveHead.bind(log);
    if (given.isHeadDamaged) log.archiveHead = async () => ({ head: '', turnCount: 0, isDamaged: true }) as never;
    const unfinished = (given.unfinished ?? []).map((uri) => ({ uri, since: 0 }));
    const said = await recoverList({
      ...{ log, writer, catalogue, clock: { now: () => NOW, after: () => () => {} } },
      records: { unfinished: async () => unfinished } as never,
    });
    await writer.settled();
    const headOf = async (channel: string) => {
      const head = (await archiveHead(channel))?.head;
      return head === undefined ? undefined : JSON.parse(head);
    };
    const turnsOf = async (channel: string) =>
      (await log.archivedTurns(channel, { start: 0, end: 99 })).map(({ json }) => JSON.parse(json));
    return { said, catalogue, log, headOf, turnsOf };
  }

  it('[REL-063] says what it did, once', async () => {
    const untouched = await recovered({ salvaged: '', archives: [archiveOf(CHAT, {})] });
    expect(untouched.said).toBeUndefined();
    expect(untouched.catalogue.count).toBe(0);
    const made = await recovered({ archives: [archiveOf(CHAT, {})], listed: [summary('b', 1)] });
    expect(made.said).toBe('the list of sessions was rebuilt: it has 2, and 1 of them were missing');
    expect(await made.log.record(REBUILT_RECORD)).toBeUndefined();
    const counted = await recovered({ salvaged: '{"entries":1}' });
    expect(counted.said).toMatch(/^the list of sessions was rebuilt: it has 0, and 0 of them were missing; ./);
  });

  it('[REL-063] has a session of which only turns are left, titled after the first message', async () => {
    const { catalogue } = await recovered({
      archives: [archiveOf(CHAT, {}, [turn('t', 'Fix the door'), turn('u', 'x')])],
    });
    expect(catalogue.current(A)).toEqual({
      lifecycle: 'ready',
      summary: expect.objectContaining({
        ...{ resource: A, provider: 'unknown', title: 'Fix the door', status: 1 },
        ...{ createdAt: at(NOW / 1_000), modifiedAt: at(NOW / 1_000) },
      }),
    });
    const without = await recovered({ archives: [archiveOf(CHAT, {})] });
    expect(without.catalogue.current(A)?.summary.title).toBe('Recovered session');
    const long = await recovered({ archives: [archiveOf(CHAT, {}, [turn('t', 'x'.repeat(100))])] });
    expect(long.catalogue.current(A)?.summary.title).toHaveLength(80);
  });

  it('[REL-063] has a session by its archive, but not by one that is damaged or has nothing in it', async () => {
    const state = { provider: 'p', title: 'Archived', status: 1, lifecycle: 'ready', activeClients: [], chats: [] };
    const byArchive = await recovered({ archives: [archiveOf(A, state)] });
    expect(byArchive.catalogue.current(A)).toMatchObject({ summary: { provider: 'p', title: 'Archived' } });
    for (const given of [{ archives: [archiveOf(A, state)], isHeadDamaged: true }, { archives: [archiveOf(A, {})] }]) {
      const { catalogue } = await recovered(given);
      expect(catalogue.current(A)).toMatchObject({ summary: { provider: 'unknown', title: 'Recovered session' } });
    }
  });

  it('[REL-063] leaves out what is not a session, and what is not finished', async () => {
    const archives = [CHAT, 'ahp-chat:/of-nobody', 'ahp-terminal:/x'].map((channel) => archiveOf(channel, {}));
    const { catalogue } = await recovered({ archives, unfinished: [A] });
    expect(catalogue.count).toBe(0);
    expect((await recovered({ archives })).catalogue.count).toBe(1);
  });

  it('[REL-063] makes lost archives of what the list says, the turns, and what came behind them', async () => {
    const { headOf, turnsOf } = await recovered({
      listed: [summary('a', 1)],
      entries: [
        ...[started('t', 'hi'), said('t'), ended('t'), started('u', 'more'), said('u')],
        entry(A, { type: 'session/titleChanged', title: 'Later' }),
      ],
    });
    expect(await headOf(A)).toMatchObject({ provider: 'agent-a', title: 'Later', chats: [{ resource: CHAT }] });
    expect(await headOf(CHAT)).toMatchObject({ activeTurn: { id: 'u', message: { text: 'more' } } });
    expect(await turnsOf(CHAT)).toEqual([]);
  });

  it.each(['chat/turnComplete', 'chat/turnCancelled', 'chat/error', 'chat/truncated'])(
    '[REL-063] an archive has everything up to the last %s, so that only what came behind it is done again',
    async (type) => {
      const end = entry(CHAT, { type, turnId: 't', duration: 1, part: { kind: 'error', error: { message: 'x' } } });
      const { headOf } = await recovered({
        listed: [summary('a', 1)],
        entries: [started('t', 'hi'), end, started('u', 'more')],
      });
      const chat = await headOf(CHAT);
      expect(chat).toMatchObject({ activeTurn: { id: 'u' } });
      expect(chat.turns ?? []).toEqual([]);
    },
  );

  it('[REL-064] ends a turn that misses something, and says so; a whole one goes on', async () => {
    const entries = [started('t', 'hi'), said('t')];
    const whole = await recovered({ listed: [summary('a', 1)], entries });
    expect(await whole.headOf(CHAT)).toMatchObject({ activeTurn: { id: 't' } });
    expect(whole.catalogue.current(A)?.summary.modifiedAt).toBe(at(1));
    const { headOf, turnsOf, catalogue } = await recovered({
      listed: [summary('a', 1)],
      entries,
      damaged: 'responsePart',
    });
    expect(await headOf(CHAT)).not.toHaveProperty('activeTurn');
    expect(await turnsOf(CHAT)).toMatchObject([
      {
        ...{ id: 't', duration: NOW - 1_000, state: 'error' },
        responseParts: [{ kind: 'error', error: { errorType: 'damaged' } }],
      },
    ]);
    expect(catalogue.current(A)?.summary.modifiedAt).not.toBe(at(1));
    // Nothing is left of a turn whose beginning is damaged.
    const headless = await recovered({ listed: [summary('a', 1)], entries, damaged: 'turnStarted' });
    expect(await headless.turnsOf(CHAT)).toEqual([]);
    expect(await headless.headOf(CHAT)).not.toHaveProperty('activeTurn');
  });

  it('[REL-063] makes the archives of other chats again, and knows whose they are', async () => {
    const other = { resource: 'ahp-chat:/other', title: 'Other', status: 1, modifiedAt: at(1) };
    const { catalogue, headOf } = await recovered({
      listed: [summary('a', 1, { chats: [{ ...other, resource: CHAT }, other] })],
      entries: [entry(other.resource, { type: 'chat/activityChanged', activity: 'Looking' })],
    });
    expect(await headOf(other.resource)).toMatchObject({ title: 'Other', activity: 'Looking' });
    expect(catalogue.chats.sessionUriOf(other.resource)).toBe(A);
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
