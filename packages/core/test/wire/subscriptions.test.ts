/** Who is subscribed to what, by itself: connections, channels and dialects are as small as they can be. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { OWNER } from '../../src/contracts/access.js';
import { MemoryLog } from '../../src/log/memory-log.js';
import { FETCH_TURNS_MAX } from '../../src/sessions/limits.js';
import type { Connection } from '../../src/wire/connection.js';
import { dialectNamed } from '../../src/wire/dialects/dialects.js';
import { Edition } from '../../src/wire/editions.js';
import { outgoing } from '../../src/wire/frames.js';
import { LoadedTurns } from '../../src/wire/loaded-turns.js';
import { ClientNotice, Subscriptions, windowOf } from '../../src/wire/subscriptions.js';
import { CloseCode } from '../../src/wire/transport.js';

const SESSION = 'ahp-session:/s';
const CHATS = ['ahp-chat:/one', 'ahp-chat:/two'];

interface ClientOptions {
  readonly unsentBytes?: number;
  readonly answersQuestions?: boolean;
  readonly roleEnds?: boolean;
  readonly isGone?: boolean;
}

function client({ unsentBytes = 0, answersQuestions = true, roleEnds = false, isGone = false }: ClientOptions = {}) {
  const traits = { version: '1.0.0', answersQuestions, roleEndsWithSubscription: roleEnds, sendsStoredJson: true };
  const identity = isGone ? undefined : { clientId: 'c' };
  const dialect = { traits, channelsOf: (wire: string) => (wire === 'none' ? [] : [wire]) };
  return { identity, unsentBytes, dialect, edition, access: OWNER, holdForAnswer: vi.fn() } as unknown as Connection;
}

/** `passing` has no state; `turns` shows some of its turns only. */
function taken(uri: string) {
  const snapshot = uri === 'passing' ? undefined : { resource: uri };
  return { snapshot, ...(uri === 'turns' && { turns: { start: 3 } }) };
}

const view = { sessionUriOf: (uri: string) => (CHATS.includes(uri) ? SESSION : undefined) };
const edition = new Edition(view as never);

function setUp(unasked: readonly Connection[] = []) {
  const calls = { unsubscribed: vi.fn(), roleEnded: vi.fn(), sendNumbered: vi.fn() };
  let isVisible = (_uri: string) => true;
  const setVisible = (decides: typeof isVisible) => {
    isVisible = decides;
  };
  const windows = new LoadedTurns({ log: new MemoryLog(), writer: { record: () => {} } });
  const subscriptions = new Subscriptions({
    connections: { of: () => undefined, unsubscribedAudience: () => unasked },
    view,
    editions: { main: edition, others: () => [], forget: (uri: string) => edition.forget(uri) },
    control: {
      canOpen: (_: unknown, uri: string) => isVisible(uri),
      sees: (_: unknown, uri: string) => isVisible(uri),
    },
    chatsOf: (uri: string) => (uri === SESSION ? CHATS : []),
    shown: () => 7,
    windows,
    settled: async () => {},
    open: async (uri: string) => (uri === 'missing' ? undefined : { channel: { uri }, takeSnapshot: () => taken(uri) }),
    ...calls,
  } as never);
  return { subscriptions, windows, setVisible, ...calls };
}

describe('the subscribers of a channel', () => {
  it('[REL-041] of a session are those of its chats, too: the one that keeps up best counts', () => {
    const { subscriptions } = setUp();
    expect(subscriptions.unsentTo(SESSION)).toBe(0);
    subscriptions.add(client({ unsentBytes: 9 }), SESSION, [SESSION]);
    expect(subscriptions.unsentTo(SESSION)).toBe(9);
    subscriptions.add(client({ unsentBytes: 4 }), 'ahp-chat:/two', ['ahp-chat:/two']);
    expect([subscriptions.unsentTo(SESSION), subscriptions.unsentTo('ahp-chat:/one')]).toEqual([4, 0]);
  });

  it('may answer a question when one of them can, or when there are none', () => {
    const { subscriptions } = setUp();
    const [able, unable] = [client(), client({ answersQuestions: false })];
    const ask = () => [subscriptions.canBeAnswered(SESSION), subscriptions.isWatchedWithoutQuestions(SESSION)];
    expect(ask()).toEqual([true, false]);
    subscriptions.add(unable, SESSION, [SESSION]);
    expect(ask()).toEqual([false, true]);
    subscriptions.add(able, SESSION, [SESSION]);
    expect(ask()).toEqual([true, true]);
    subscriptions.removeAllOf(unable);
    expect(ask()).toEqual([true, false]);
  });

  it('may be shown a worker as a chat when one of them can show chats, or when there are none', () => {
    const { subscriptions } = setUp();
    const speaking = (chats: readonly string[]) => {
      const one = client();
      Object.assign(one, { dialect: { ...one.dialect, channelsOf: () => chats } });
      return one;
    };
    const [able, unable] = [speaking(['ahp-chat:/any']), speaking([])];
    expect(subscriptions.canShowChats(SESSION)).toBe(true);
    subscriptions.add(unable, SESSION, [SESSION]);
    expect(subscriptions.canShowChats(SESSION)).toBe(false);
    subscriptions.add(able, SESSION, [SESSION]);
    expect(subscriptions.canShowChats(SESSION)).toBe(true);
  });

  it('are those until they unsubscribe from the last wire channel that shows it', () => {
    const { subscriptions, unsubscribed } = setUp();
    const one = client();
    subscriptions.add(one, 'both', [SESSION, 'ahp-chat:/one']);
    subscriptions.add(one, SESSION, [SESSION]);
    expect(subscriptions.channelsOf(one)).toEqual([SESSION, 'ahp-chat:/one', SESSION]);
    subscriptions.remove(one, 'both');
    expect([SESSION, 'ahp-chat:/one'].map((uri) => subscriptions.isWatched(uri))).toEqual([true, false]);
    subscriptions.remove(one, SESSION);
    subscriptions.remove(one, 'never');
    expect(subscriptions.isWatched(SESSION)).toBe(false);
    expect(unsubscribed.mock.calls).toEqual([[SESSION], ['ahp-chat:/one'], [SESSION]]);
    expect(subscriptions.channelsOf(one)).toEqual([]);
  });

  it('give up their role with the subscription where their wire says so, and not when their connection closes', () => {
    const { subscriptions, roleEnded } = setUp();
    const [older, newer] = [client({ roleEnds: true }), client()];
    for (const each of [older, newer]) subscriptions.add(each, SESSION, [SESSION]);
    subscriptions.remove(newer, SESSION);
    expect(roleEnded).not.toHaveBeenCalled();
    subscriptions.remove(older, SESSION);
    expect(roleEnded).toHaveBeenCalledExactlyOnceWith(SESSION, 'c');
    subscriptions.add(older, SESSION, [SESSION]);
    subscriptions.removeAllOf(older);
    expect(roleEnded).toHaveBeenCalledOnce();
  });

  it('are not those who left while the channel was being opened', () => {
    const { subscriptions, unsubscribed } = setUp();
    const gone = client({ isGone: true });
    subscriptions.add(gone, SESSION, [SESSION]);
    expect([subscriptions.isWatched(SESSION), subscriptions.channelsOf(gone)]).toEqual([false, []]);
    expect(unsubscribed).toHaveBeenCalledExactlyOnceWith(SESSION);
    expect(gone.holdForAnswer).not.toHaveBeenCalled();
  });

  it('are none once the channel is gone', () => {
    const { subscriptions } = setUp();
    const [one, other] = [client(), client()];
    for (const each of [one, other]) subscriptions.add(each, SESSION, [SESSION]);
    subscriptions.unsubscribeAll(SESSION);
    expect([subscriptions.isWatched(SESSION), subscriptions.channelsOf(one)]).toEqual([false, []]);
  });
});

describe('opening channels', () => {
  it('gives all snapshots at one number, and leaves out what there is not', async () => {
    const { subscriptions } = setUp();
    const one = client();
    const opened = await subscriptions.open(one, ['a', 'missing', 'none', 'passing', 'turns', 'a'], undefined);
    expect(opened).toEqual({
      seq: 7,
      found: ['a', 'passing', 'turns'],
      snapshots: [
        { channel: 'a', parts: [{ resource: 'a' }] },
        { channel: 'turns', parts: [{ resource: 'turns' }] },
      ],
      windows: { turns: { start: 3 } },
    });
    expect(subscriptions.channelsOf(one)).toEqual(['a', 'passing', 'turns']);
    expect(one.holdForAnswer).toHaveBeenCalledTimes(3);
  });
});

describe('older turns of a chat', () => {
  const [CHAT = ''] = CHATS;
  const turns = Array.from({ length: FETCH_TURNS_MAX + 5 }, (_, index) => ({ id: `t${index}` }) as never);

  /** Somebody who watches a chat, and has it from a turn on. */
  function watching(from: number) {
    const host = setUp();
    const one = Object.assign(client(), { close: vi.fn(), dialect: dialectNamed('1.0.0') });
    host.subscriptions.add(one, CHAT, [CHAT]);
    host.windows.note({ clientId: 'c', start: 1 }, CHAT, from, 3);
    Object.assign(one, { identity: { clientId: 'c', start: 1 } });
    const told = () =>
      host.sendNumbered.mock.calls.map(([notice]) => JSON.parse((notice as ClientNotice).message(9).text).params);
    return { ...host, one, told };
  }

  it('are told before an action that names one of them, and no turn that the client has', () => {
    const { subscriptions, one, told } = watching(3);
    subscriptions.loadTurns(CHAT, 3, turns);
    expect(told()).toEqual([]);
    subscriptions.loadTurns(CHAT, 1, turns);
    expect(told()).toMatchObject([
      { channel: CHAT, serverSeq: 9, action: { type: 'chat/turnsLoaded', turns: [{ id: 't0' }, { id: 't1' }] } },
    ]);
    expect(told()[0]).toHaveProperty('action.turnsNextCursor', '1');
    expect([subscriptions.loadedBy(one, CHAT), subscriptions.loadedFrom(CHAT)]).toEqual([1, 1]);
    subscriptions.loadTurns(CHAT, 0, turns);
    expect(told()[1]).not.toHaveProperty('action.turnsNextCursor');
    expect(one.close).not.toHaveBeenCalled();
  });

  it(`are ${FETCH_TURNS_MAX} at most: a client that misses more takes a snapshot`, () => {
    const most = watching(FETCH_TURNS_MAX + 1);
    most.subscriptions.loadTurns(CHAT, 1, turns);
    expect([most.told().length, most.one.close.mock.calls]).toEqual([1, []]);
    const more = watching(FETCH_TURNS_MAX + 2);
    more.subscriptions.loadTurns(CHAT, 1, turns);
    expect(more.told()).toEqual([]);
    expect(more.one.close).toHaveBeenCalledExactlyOnceWith(
      CloseCode.SnapshotNeeded,
      'history was cut far before the loaded turns: reconnect for a snapshot',
    );
  });

  it('are not told to those who have left', () => {
    const { subscriptions, one, told } = watching(3);
    Object.assign(one, { identity: undefined });
    subscriptions.loadTurns(CHAT, 1, turns);
    subscriptions.sendOlderTurns(one, CHAT, { start: 1, turns });
    subscriptions.clearedFor(one, CHAT);
    expect([told(), subscriptions.loadedBy(one, CHAT)]).toEqual([[], 0]);
  });

  it('are all there are once every turn was cut off', () => {
    const { subscriptions, one } = watching(3);
    subscriptions.clearedFor(one, CHAT);
    expect(subscriptions.loadedBy(one, CHAT)).toBe(0);
    subscriptions.restoredFor(one, CHAT, 2);
    expect(subscriptions.loadedBy(one, CHAT)).toBe(2);
  });
});

describe('a stored tick', () => {
  const [CHAT = '', OTHER = ''] = CHATS;

  function watching(...channels: string[]) {
    const host = setUp();
    const sent: { id?: unknown; params?: { serverSeq: number; action: { type: string } } }[][] = [];
    const sendAll = (messages: readonly { text: string }[]) => {
      sent.push(messages.map(({ text }) => JSON.parse(text)));
    };
    const identity = { clientId: 'c', start: 1 };
    const extras = { sendAll, identity, echoedEarly: new Set(), isReady: true, dialect: dialectNamed('1.0.0') };
    const one = Object.assign(client(), extras);
    for (const channel of channels) host.subscriptions.add(one, channel, [channel]);
    return { ...host, one, sent, identity };
  }
  const step = (channel: string, serverSeq: number, action: object) => {
    const envelope = { channel, action, serverSeq };
    return { channel: { uri: channel }, envelope, before: {}, after: {}, text: JSON.stringify(envelope) };
  };
  const batch = (steps: readonly object[], notices: readonly object[] = []) => ({ steps, notices }) as never;
  const loaded = (cursor?: string) => ({
    ...{ type: 'chat/turnsLoaded', turns: [] },
    ...(cursor !== undefined && { turnsNextCursor: cursor }),
  });
  const activity = (text: string) => ({ type: 'session/activityChanged', activity: text });

  it('goes to those who watch, in one write, in the order of its numbers across channels', () => {
    const { subscriptions, one, sent } = watching(SESSION, 'ahp-session:/t');
    const notice = new ClientNotice(one, (serverSeq) => outgoing({ params: { serverSeq, action: { type: 'own' } } }));
    const steps = [
      ...[step(SESSION, 4, activity('a')), step('ahp-session:/t', 5, activity('b')), step(SESSION, 7, activity('c'))],
      step('ahp-session:/unwatched', 8, activity('d')),
    ];
    subscriptions.show(
      batch(steps, [
        { seq: 6, notice },
        { seq: 9, notice: { lost() {} } },
      ]),
    );
    expect(sent.map((write) => write.map(({ params }) => params?.serverSeq))).toEqual([[4, 5, 6, 7]]);
    subscriptions.show(batch([step(SESSION, 10, activity('e'))]));
    subscriptions.show(batch([step('ahp-session:/unwatched', 11, activity('f'))]));
    expect(sent.map((write) => write.length)).toEqual([4, 1]);
  });

  it('with turns that came back says from which turn on everybody has a chat, and one with a cut that all have it', () => {
    const { subscriptions, one, windows, identity } = watching(CHAT, OTHER);
    subscriptions.show(batch([step(CHAT, 4, loaded('6'))]));
    expect([windows.of(identity, CHAT), windows.of(identity, OTHER)]).toEqual([6, 0]);
    subscriptions.show(batch([step(CHAT, 5, loaded())]));
    expect(windows.of(identity, CHAT)).toBe(0);
    subscriptions.show(batch([step(CHAT, 6, loaded('3')), step(OTHER, 7, loaded('2'))]));
    subscriptions.show(batch([step(CHAT, 8, { type: 'chat/truncated', turnId: 't' })]));
    expect([subscriptions.loadedBy(one, CHAT), subscriptions.loadedFrom(OTHER)]).toEqual([3, 2]);
    subscriptions.show(batch([step(CHAT, 9, { type: 'chat/truncated' })]));
    expect([subscriptions.loadedBy(one, CHAT), subscriptions.loadedBy(one, OTHER)]).toEqual([0, 2]);
  });

  it('is kept for clients of an older wire that come back, with whether one of that wire is there', () => {
    const { subscriptions, one } = watching(SESSION);
    const [{ dialect, replay } = expect.fail('no wire needs states')] = edition.translated;
    onTestFinished(() => edition.forget(SESSION));
    const add = vi.spyOn(replay, 'add').mockReturnValue();
    const encode = vi.spyOn(dialect, 'encodeSteps').mockReturnValue({ frames: [] } as never);
    const remember = vi.spyOn(dialect, 'remember').mockImplementation((memory) => memory);
    onTestFinished(() => {
      for (const spy of [add, encode, remember]) spy.mockRestore();
    });
    subscriptions.show(batch([step(SESSION, 4, activity('a'))]));
    expect(add).not.toHaveBeenCalled();
    replay.follow(SESSION, 4);
    subscriptions.show(batch([step(SESSION, 5, activity('b')), step(SESSION, 6, activity('c'))]));
    expect(add.mock.calls.at(-1)).toMatchObject([SESSION, {}, { first: 5, upTo: 6, isWatched: false }]);
    Object.assign(one, { dialect });
    subscriptions.show(batch([step(SESSION, 7, activity('d'))]));
    expect(add.mock.calls.at(-1)).toMatchObject([SESSION, {}, { first: 7, upTo: 7, isWatched: true }]);
  });

  it('changes nothing of what one has that has left', () => {
    const { subscriptions, one, windows, identity } = watching(CHAT);
    Object.assign(one, { identity: undefined });
    subscriptions.show(batch([step(CHAT, 4, loaded('6'))]));
    expect(windows.of(identity, CHAT)).toBe(0);
  });
});

describe('a session that leaves the bounds of somebody', () => {
  it('[DEV-021] ends what they watch of it and nothing else, and they are told once that it is gone', () => {
    const { subscriptions, setVisible } = setUp();
    const sent: unknown[] = [];
    const bounds = { folders: ['/work'] };
    const access = { ...OWNER, bounds };
    const encodeNotification = vi.fn(({ method, params }) => ({ method, params }));
    const one = client();
    const limited = new Edition(view as never);
    Object.assign(one, {
      ...{ access, edition: limited, sendAll: (messages: readonly unknown[]) => sent.push(...messages) },
      dialect: { ...one.dialect, encodeNotification },
    });
    const changed = (session: string) => subscriptions.notify('root', 'root/sessionSummaryChanged', { session });
    for (const wire of ['root', SESSION, 'ahp-chat:/two', 'ahp-session:/kept']) subscriptions.add(one, wire, [wire]);
    setVisible((uri) => uri === 'root' || uri === 'ahp-session:/kept');
    changed('ahp-session:/never-seen');
    expect(sent).toEqual([]);
    changed(SESSION);
    expect(subscriptions.channelsOf(one)).toEqual(['root', 'ahp-session:/kept']);
    expect(encodeNotification).toHaveBeenCalledExactlyOnceWith(
      { method: 'root/sessionRemoved', params: expect.objectContaining({ session: SESSION }) },
      expect.anything(),
    );
    changed(SESSION);
    expect(sent).toHaveLength(1);
    // Of one in the list only, which was watched by nobody, it hears as well.
    subscriptions.noteListed(one, ['ahp-session:/listed']);
    changed('ahp-session:/listed');
    expect(sent).toHaveLength(2);
  });
});

describe('how long text waits for more', () => {
  it('is what the most impatient of its readers allows', () => {
    const { subscriptions } = setUp();
    const waits = (textMaxDelayMs?: number) => Object.assign(client(), { textMaxDelayMs });
    expect(subscriptions.audienceOf(SESSION)).toEqual({ count: 0, maxDelayMs: undefined });
    subscriptions.add(waits(), SESSION, [SESSION]);
    expect(subscriptions.audienceOf(SESSION)).toEqual({ count: 1, maxDelayMs: undefined });
    for (const wish of [80, 50, 200]) subscriptions.add(waits(wish), SESSION, [SESSION]);
    expect(subscriptions.audienceOf(SESSION)).toEqual({ count: 4, maxDelayMs: 50 });
  });
});

describe('a notification', () => {
  it('[GRO-006] is encoded once for each dialect, and costs nothing for clients that it does not concern', () => {
    const encodeNotification = vi.fn(({ method, params }) => ({ method, params }));
    const dialect = { traits: {}, encodeNotification };
    const silent = { traits: {}, encodeNotification: vi.fn(() => undefined) };
    const made = (speaks: object, isGone = false) => {
      const sent: unknown[] = [];
      const sendAll = (messages: unknown) => sent.push(messages);
      const identity = isGone ? undefined : { clientId: 'c' };
      return {
        sent,
        connection: { identity, edition, dialect: speaks, sendAll, holdForAnswer() {} } as unknown as Connection,
      };
    };
    const told = Array.from({ length: 100 }, () => made(dialect));
    const unasked = made(dialect);
    const [other, gone, bystander] = [made(silent), made(dialect), made(dialect)];
    const { subscriptions } = setUp([unasked.connection, (told[0] as { connection: Connection }).connection]);
    for (const { connection } of [...told, other, gone]) subscriptions.add(connection, 'root', ['root']);
    Object.assign(gone.connection, { identity: undefined });
    const looks = vi.fn(() => dialect);
    Object.defineProperty(bystander.connection, 'dialect', { get: looks });
    subscriptions.add(bystander.connection, SESSION, [SESSION]);
    looks.mockClear();
    subscriptions.notify('root', 'root/sessionRemoved', { session: SESSION });
    expect(encodeNotification).toHaveBeenCalledTimes(1);
    expect([...told, unasked].map(({ sent }) => sent.length)).toEqual(Array.from({ length: 101 }, () => 1));
    // The very same list: nothing is made for each of them.
    expect(new Set([...told, unasked].map(({ sent }) => sent[0])).size).toBe(1);
    expect([other, gone, bystander].map(({ sent }) => sent.length)).toEqual([0, 0, 0]);
    expect(looks).not.toHaveBeenCalled();
  });
});

describe('the window of turns that a client asks for', () => {
  it.each<[string, object, object | undefined]>([
    ['nothing', {}, undefined],
    ['so many turns', { turns: { last: 3 } }, { last: 3 }],
    ['no turn at all', { turns: { last: 0 } }, { last: 0 }],
    ['the same in the words of the public protocol', { view: { turns: 4 } }, { last: 4 }],
    ['a view without turns', { view: {} }, undefined],
    ['a view without turns, and turns', { view: {}, turns: { last: 2 } }, { last: 2 }],
    ['a text for a view', { view: 'turns' }, undefined],
    ['null for a view', { view: null }, undefined],
    ['a text for turns', { turns: 'last' }, undefined],
    ['null for turns', { turns: null }, undefined],
    ['turns without a number', { turns: {} }, undefined],
    ['less than none', { turns: { last: -1 } }, undefined],
    ['half a turn', { turns: { last: 0.5 } }, undefined],
    ['a number as a text', { turns: { last: '3' } }, undefined],
  ])('%s', (_, params, window) => {
    expect(windowOf({ ...params })).toEqual(window);
  });
});
