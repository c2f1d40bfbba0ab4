/** Sessions that go, and may come back, with everything around them played. */
import { annotationsChannel, defaultChatUri } from '@atrium/protocol/ahp-1';
import { describe, expect, it, vi } from 'vitest';
import { Reserved } from '../../src/sessions/creation.js';
import { DISPOSED_KEPT_MS, UNFINISHED_KEPT_MS } from '../../src/sessions/limits.js';
import type { Session } from '../../src/sessions/session.js';
import {
  Removal,
  type RemovalOptions,
  SessionsInMemory,
  type SessionsInMemoryOptions,
} from '../../src/sessions/sessions.js';

const S = 'ahp-session:/s';
const NOW = 10 * DISPOSED_KEPT_MS;

interface Entry {
  readonly summary: object;
  readonly lifecycle: string;
  readonly disposedAt?: number;
}

function removal(entries: Record<string, Entry> = {}, unfinished: readonly { uri: string; since: number }[] = []) {
  const known = new Map(Object.entries(entries));
  const session = {
    ...{ isClosed: false, dispose: vi.fn(async () => {}), create: vi.fn() },
    ...{ chats: [{ uri: 'ahp-chat:/a' }, { uri: 'ahp-chat:/b' }], annotations: { uri: annotationsChannel(S) } },
  };
  const memory = {
    open: vi.fn(async (uri: string) => (uri === S ? session : undefined)),
    remove: vi.fn(async () => {}),
  };
  const catalogue = {
    ...{
      find: (uri: string) => known.get(uri),
      set: vi.fn(),
      remove: vi.fn(),
      chats: { storedFor: () => ['ahp-chat:/stored'] },
    },
    disposed: () =>
      [...known].flatMap(([uri, { disposedAt }]) => (disposedAt === undefined ? [] : { uri, at: disposedAt })),
  };
  const service = { forgotten: vi.fn(async (_uri: string) => {}) };
  const options = {
    ...{ catalogue, memory, reserved: new Reserved(), clock: { now: () => NOW }, logger: { log: vi.fn() } },
    ...{
      watchers: { unsubscribeAll: vi.fn() },
      news: { removed: vi.fn(), added: vi.fn() },
      log: { forget: vi.fn(async () => {}) },
    },
    ...{ writer: { settled: vi.fn(async () => {}) }, services: [{}, service, { forgotten: service.forgotten }] },
    records: { setActive: vi.fn(), forget: vi.fn(), unfinished: async () => unfinished },
  };
  const chats = { purge: vi.fn(async () => {}), forgetStored: vi.fn(async () => {}) };
  return {
    removal: new Removal(options as unknown as RemovalOptions, chats as never),
    options,
    session,
    service,
    chats,
  };
}

describe('a session that is disposed of', () => {
  it('[AHP-036] leaves the list, its subscribers and memory', async () => {
    const { removal: it, options, session } = removal();
    await it.dispose(S);
    expect([session.dispose.mock.calls.length, options.news.removed.mock.calls]).toEqual([1, [[S]]]);
    expect(options.watchers.unsubscribeAll.mock.calls.map(([uri]) => uri)).toEqual([
      ...['ahp-chat:/a', 'ahp-chat:/b', annotationsChannel(S)],
      S,
    ]);
    expect(options.memory.remove).toHaveBeenCalledWith(session);
    await expect(it.dispose('ahp-session:/x')).rejects.toThrow('there is no session ahp-session:/x');
    Object.assign(session, { isClosed: true });
    await expect(it.dispose(S)).rejects.toThrow(`there is no session ${S}`);
    expect(session.dispose).toHaveBeenCalledOnce();
  });

  it('comes back as it was, and goes on being created if it was', async () => {
    const disposed = (lifecycle: string) => ({ [S]: { summary: { title: 'x' }, lifecycle, disposedAt: 5 } });
    const { removal: it, options, session } = removal(disposed('ready'));
    const restoring = it.restore(S);
    expect(options.reserved.has(S)).toBe(true);
    await expect(it.restore(S)).rejects.toThrow('no disposed session');
    await restoring;
    expect(options.catalogue.set.mock.calls).toEqual([[S, { summary: { title: 'x' }, lifecycle: 'ready' }]]);
    expect(options.records.setActive.mock.calls).toEqual([[S, false]]);
    expect([options.news.added.mock.calls, session.create.mock.calls.length]).toEqual([[[{ title: 'x' }]], 0]);
    const young = removal(disposed('creating'));
    await young.removal.restore(S);
    expect([young.options.records.setActive.mock.calls, young.session.create.mock.calls.length]).toEqual([
      [[S, true]],
      1,
    ]);
    const present = removal({ [S]: { summary: {}, lifecycle: 'ready' } });
    await expect(present.removal.restore(S)).rejects.toThrow('no disposed session');
    await expect(present.removal.restore('ahp-session:/x')).rejects.toThrow('no disposed session');
  });

  it('is forgotten after a while, with all that is stored of it, and so is what never came to be', async () => {
    const at = (ago: number) => ({ summary: {}, lifecycle: 'ready', disposedAt: NOW - ago });
    const entries = {
      old: at(DISPOSED_KEPT_MS + 1),
      young: at(DISPOSED_KEPT_MS),
      present: { summary: {}, lifecycle: 'ready' },
    };
    const unfinished = [
      { uri: 'left', since: NOW - UNFINISHED_KEPT_MS - 1 },
      { uri: 'coming', since: NOW - UNFINISHED_KEPT_MS },
      { uri: 'present', since: 0 },
      { uri: 'busy', since: 0 },
    ];
    const { removal: it, options, service, chats } = removal(entries, unfinished);
    void options.reserved.during('busy', () => new Promise(() => {}));
    service.forgotten.mockRejectedValueOnce(new Error('stays'));
    await it.purge();
    expect(chats.purge).toHaveBeenCalledOnce();
    expect(options.catalogue.remove.mock.calls).toEqual([['old'], ['left']]);
    expect(options.log.forget.mock.calls.map(([channel]: unknown[]) => channel)).toEqual(
      ['old', 'left'].flatMap((uri) => [defaultChatUri(uri), annotationsChannel(uri), uri]),
    );
    expect(chats.forgetStored.mock.calls).toEqual([['ahp-chat:/stored'], ['ahp-chat:/stored']]);
    expect(service.forgotten.mock.calls).toEqual([['old'], ['old'], ['left'], ['left']]);
    expect([options.records.forget.mock.calls, options.logger.log.mock.calls.length]).toEqual([[['old'], ['left']], 1]);
  });
});

describe('the sessions in memory', () => {
  function memory({ isIdle = true, watched = [] as string[], settles = async () => {} } = {}) {
    const options = {
      ...{
        catalogue: { isListed: (uri: string) => uri === S, restoredEntry: async () => undefined },
        log: { openChannel: vi.fn(async () => undefined) },
      },
      ...{
        writer: { settled: vi.fn(settles) },
        watchers: { isWatched: (uri: string) => watched.includes(uri) },
        used: vi.fn(),
      },
    };
    const inMemory = new SessionsInMemory(options as unknown as SessionsInMemoryOptions);
    let end = () => {};
    const session = {
      ...{
        uri: S,
        isIdle,
        isClosed: false,
        storeArchive: vi.fn(),
        annotations: { uri: 'notes' },
        chats: [{ uri: 'chat' }],
      },
      close: vi.fn(() => new Promise<void>((resolve) => (end = resolve))),
    };
    (inMemory.all as Map<string, unknown>).set(S, session);
    return { inMemory, session, options, end: () => end() };
  }

  it('leave when they are idle, and nobody watches them, their chats or their annotations', async () => {
    const isLeft = async (setting: Parameters<typeof memory>[0], change: object = {}) => {
      const { inMemory, session, end } = memory(setting);
      const leaving = inMemory.unloadIfIdle(S);
      Object.assign(session, change);
      await new Promise((resolve) => setImmediate(resolve));
      end();
      await leaving;
      expect(session.storeArchive.mock.calls.length).toBe(setting?.isIdle === false ? 0 : 1);
      return !inMemory.all.has(S);
    };
    expect(await isLeft({})).toBe(true);
    for (const watched of [[S], ['notes'], ['chat']]) expect(await isLeft({ watched })).toBe(false);
    expect([
      await isLeft({ isIdle: false }),
      await isLeft({}, { isIdle: false }),
      await isLeft({}, { isClosed: true }),
    ]).toEqual([...[false, false], false]);
  });

  it('are opened while they are listed, and not once the host stops', async () => {
    const { inMemory, session, options, end } = memory();
    expect(await inMemory.open(S)).toBe(session);
    Object.assign(session, { isClosed: true });
    expect(await inMemory.open(S)).toBeUndefined();
    expect(await inMemory.open('ahp-session:/x')).toBeUndefined();
    expect(options.log.openChannel).not.toHaveBeenCalled();
    let isClosed = false;
    const closing = inMemory.close().then(() => {
      isClosed = true;
    });
    expect(inMemory.all.size).toBe(0);
    expect(await inMemory.open(S)).toBeUndefined();
    expect([options.log.openChannel.mock.calls.length, isClosed]).toEqual([0, false]);
    end();
    await closing;
    expect(session.close).toHaveBeenCalledOnce();
  });

  it('are read once for all who ask at the same time', async () => {
    const { inMemory, options } = memory();
    (inMemory.all as Map<string, Session>).delete(S);
    expect(await Promise.all([inMemory.open(S), inMemory.open(S)])).toEqual([undefined, undefined]);
    expect(options.log.openChannel).toHaveBeenCalledOnce();
    await inMemory.open(S);
    expect(options.log.openChannel).toHaveBeenCalledTimes(2);
  });
});
