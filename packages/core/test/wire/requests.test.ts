/** Requests and dispatched actions by themselves, without a connection around them. */

import { ErrorCode, PRIVATE, SELECTION_CHANGED } from '@atrium/protocol/ahp-1';
import { describe, expect, it, vi } from 'vitest';
import { OWNER } from '../../src/contracts/access.js';
import { PROGRESS_TOKEN_MAX_CHARACTERS } from '../../src/sessions/creation-progress.js';
import { FETCH_TURNS_MAX } from '../../src/sessions/limits.js';
import { RawJson } from '../../src/util/json-parts.js';
import { AccessControl } from '../../src/wire/access-control.js';
import { dispatchAction, refuseAction } from '../../src/wire/dispatch.js';
import { Requests, type RequestsOptions } from '../../src/wire/requests.js';

const S = 'ahp-session:/s';
const CHAT = 'ahp-chat:/c';

function requestsOf(options: object = {}) {
  const chat = {
    ...{ uri: CHAT, fetchTurns: vi.fn(() => 'page'), turnsBefore: vi.fn(async () => ({ start: 3, turns: ['t'] })) },
    ...{ turnsBetween: vi.fn(async () => ['turn']), contextTurns: vi.fn(async () => ['context']) },
    ...{ contextCount: async () => 0, turnCount: () => 4, committed: { resource: CHAT, title: 'Chat' } },
  };
  const told = { ...chat, contextCount: async () => 2, committed: { resource: 'ahp-chat:/d', title: 'Side' } };
  const session = { chat: {}, chats: [{}, chat, told], annotations: { committed: 'notes' } };
  Object.assign(session, { chat: session.chats[0] });
  const sessions = {
    ...{ create: vi.fn(), dispose: vi.fn(), createChat: vi.fn(), disposeChat: vi.fn(), restore: vi.fn() },
    ...{ disposed: () => ['gone'], import: vi.fn(), sessionUriOf: () => S },
    page: vi.fn(({ cursor }: { cursor?: string }) => ({
      text: '["item"]',
      nextCursor: cursor === 'last' ? undefined : 'next',
    })),
    openChat: vi.fn(async (uri: string) => (uri === CHAT ? chat : undefined)),
    open: vi.fn(async (uri: string) => (uri === S ? session : undefined)),
    choices: { resolve: vi.fn(() => 'resolved'), completions: vi.fn(async () => ['value']) },
  };
  const subscriptions = {
    open: vi.fn(async (_connection: object, [uri]: string[], window: unknown) => ({
      ...{ found: uri === S ? [S] : [], windows: { [S]: 'window' } },
      snapshots: uri === S && window !== 'stateless' ? ['snapshot'] : [],
    })),
    ...{ loadedBy: vi.fn(() => 0), sendOlderTurns: vi.fn(), notifyOne: vi.fn() },
  };
  const [writer, checkAccess] = [{ settled: vi.fn(async () => {}) }, vi.fn()];
  const connection = {
    ...{ identity: { clientId: 'c' }, holdText: vi.fn(), dialect: { traits: { sendsStoredJson: false } } },
    ...{ access: OWNER, edition: {} },
  };
  const given = { sessions, subscriptions, writer, checkAccess, services: [], ...options };
  const requests = new Requests(given as unknown as RequestsOptions);
  const answer = (method: string, params: object = {}, from: object = connection) =>
    requests.answer(from as never, method, params as never) as Promise<unknown>;
  return { requests, answer, sessions, subscriptions, writer, checkAccess, connection, chat, session };
}

describe('a request', () => {
  it('[AHP-013] is answered by the first part of the host that knows it, and by none for what only objects know', async () => {
    const [first, second] = [{ ping: vi.fn(() => 'first') }, { ping: vi.fn(() => 'second') }];
    const services = [
      { requests: first, lanes: { ping: 'free' } },
      { requests: second, lanes: { ping: 'aside' }, extensionRequests: { 'atrium/own': () => 'own' } },
    ];
    const { requests, answer } = requestsOf({ services });
    expect([answer('ping'), answer('atrium/own'), answer('atrium/listDisposed')]).toEqual([
      ...['first', 'own'],
      { items: ['gone'] },
    ]);
    expect(
      ['ping', 'resolveSessionConfig', 'sessionConfigCompletions', 'subscribe'].map((name) => requests.laneOf(name)),
    ).toEqual([...['free', 'aside', 'aside'], 'main']);
    expect(['atrium/own', 'atrium/chats', 'ping', 'toString'].map((name) => requests.isExtension(name))).toEqual([
      ...[true, true, false],
      false,
    ]);
    for (const method of ['toString', 'constructor', 'nothing']) {
      expect(() => answer(method)).toThrow(expect.objectContaining({ code: ErrorCode.MethodNotFound }));
      expect(requests.laneOf(method)).toBe('main');
    }
    for (const method of ['initialize', 'reconnect']) expect(() => answer(method)).toThrow('handshake is already done');
  });

  it('subscribes with what there is: a snapshot, a window, and how long text may wait', async () => {
    const { answer, connection } = requestsOf();
    expect(await answer('subscribe', { channel: S, delivery: { maxLatencyMs: 40 } })).toEqual({ snapshot: 'snapshot' });
    expect(connection.holdText.mock.calls).toEqual([[S, 40]]);
    await expect(answer('subscribe', { channel: 'ahp-session:/x' })).rejects.toMatchObject({
      code: ErrorCode.SessionNotFound,
    });
    await expect(answer('subscribe', { channel: 'ahp-chat:/x' })).rejects.toMatchObject({ code: ErrorCode.NotFound });
    expect(connection.holdText).toHaveBeenCalledOnce();
  });

  it('creates and disposes of sessions and chats, and says so with nothing', async () => {
    const { answer, sessions, subscriptions, checkAccess, connection } = requestsOf();
    const params = { channel: S, progressToken: 'p'.repeat(PROGRESS_TOKEN_MAX_CHARACTERS) };
    expect(await answer('createSession', params)).toBeNull();
    const [given, creator] = sessions.create.mock.calls[0] ?? [];
    expect([given, creator.clientId]).toEqual([params, 'c']);
    creator.assertUsable('agent');
    expect(checkAccess).toHaveBeenCalledWith(connection, 'agent');
    creator.progress({ progress: 1 });
    expect(subscriptions.notifyOne).toHaveBeenCalledWith(connection, {
      method: 'root/progress',
      params: { channel: 'ahp-root://', progressToken: params.progressToken, progress: 1 },
    });
    await answer('createSession', { channel: S });
    expect(sessions.create.mock.calls[1]?.[1].progress).toBeUndefined();
    const long = { ...params, progressToken: `${params.progressToken}x` };
    await expect(answer('createSession', long)).rejects.toThrow('/progressToken may have');
    for (const [method, name] of [
      ['disposeSession', 'dispose'],
      ['createChat', 'createChat'],
      ['disposeChat', 'disposeChat'],
      ['atrium/restoreSession', 'restore'],
    ] as const) {
      expect(await answer(method, { channel: S })).toBeNull();
      expect(sessions[name].mock.calls).toMatchObject([[method === 'createChat' ? { channel: S } : S]]);
    }
  });

  it('[UP-032] lists sessions page by page, as text where the wire takes that', () => {
    const { answer, sessions, connection } = requestsOf();
    expect(answer('listSessions', { limit: 1, cursor: 'c' })).toEqual({ items: ['item'], nextCursor: 'next' });
    expect(sessions.page).toHaveBeenLastCalledWith({ limit: 1, cursor: 'c' });
    const native = { ...connection, dialect: { traits: { sendsStoredJson: true } } };
    expect(answer('listSessions', { cursor: 'last' }, native)).toEqual({ items: new RawJson('["item"]') });
    for (const limit of [0, -1, 1.5, Number.POSITIVE_INFINITY])
      expect(() => answer('listSessions', { limit })).toThrow('/limit must be a positive number');
  });

  it('[UP-033] loads the turns before those that a client has, or before its cursor', async () => {
    const { answer, subscriptions, chat, connection, writer } = requestsOf();
    const endFor = async (loaded: number, cursor?: string) => {
      subscriptions.loadedBy.mockReturnValue(loaded);
      chat.turnsBefore.mockClear();
      expect(await answer('fetchTurns', { channel: CHAT, ...(cursor !== undefined && { cursor }) })).toEqual({});
      return (chat.turnsBefore.mock.calls as unknown as [() => number][])[0]?.[0]();
    };
    expect(await endFor(0)).toBeUndefined();
    expect(await endFor(0, '0')).toBeUndefined();
    expect(subscriptions.sendOlderTurns).not.toHaveBeenCalled();
    expect([await endFor(20), await endFor(20, '10'), await endFor(20, '30'), await endFor(0, '7')]).toEqual([
      20, 10, 20, 7,
    ]);
    expect(subscriptions.sendOlderTurns).toHaveBeenLastCalledWith(connection, CHAT, { start: 3, turns: ['t'] });
    expect(writer.settled).toHaveBeenCalledTimes(4);
    for (const cursor of ['x', '1x', 'x1', '-1', '', '1'.repeat(16)])
      await expect(answer('fetchTurns', { channel: CHAT, cursor })).rejects.toThrow('is not a cursor of this host');
    await expect(answer('fetchTurns', { channel: 'ahp-chat:/x' })).rejects.toThrow('there is no channel ahp-chat:/x');
    const older = { [PRIVATE]: { limit: 3 } };
    expect(await answer('fetchTurns', { channel: CHAT, ...older })).toBe('page');
    expect(chat.fetchTurns).toHaveBeenCalledWith({ limit: 3 });
    await expect(answer('fetchTurns', { channel: 'ahp-chat:/x', ...older })).rejects.toThrow(
      `there is no session ${S}`,
    );
  });

  it('[CLI-044] reads what an export needs: chats, their turns, what side chats know, and annotations', async () => {
    const { answer, chat } = requestsOf();
    expect(await answer('atrium/annotations', { channel: S })).toBe('notes');
    expect(await answer('atrium/chats', { channel: S })).toMatchObject({
      chats: [
        { resource: CHAT, title: 'Chat', turns: 4 },
        { resource: 'ahp-chat:/d', title: 'Side', turns: 4, context: 2 },
      ],
    });
    const { chats } = (await answer('atrium/chats', { channel: S })) as { chats: object[] };
    expect(chats[0]).not.toHaveProperty('context');
    for (const method of ['atrium/annotations', 'atrium/chats'])
      await expect(answer(method, { channel: 'ahp-session:/x' })).rejects.toThrow('there is no session');
    await expect(answer('atrium/chatTurns', { channel: 'ahp-chat:/x' })).rejects.toThrow('there is no channel');
    const range = async (start: unknown, end: unknown) => {
      expect(await answer('atrium/chatTurns', { channel: CHAT, start, end })).toEqual({ turns: ['turn'] });
      return chat.turnsBetween.mock.lastCall;
    };
    expect([
      await range(2, 5),
      await range(2.9, 5.9),
      await range(-1, 3),
      await range('x', 'y'),
      await range(5, 2),
    ]).toEqual([
      ...[
        [2, 5],
        [2, 5],
        [0, 3],
        [0, 0],
      ],
      [5, 5],
    ]);
    expect(await range(10, 9_999)).toEqual([10, 10 + FETCH_TURNS_MAX]);
    expect(await answer('atrium/chatTurns', { channel: CHAT, start: 0, end: 1, context: true })).toEqual({
      turns: ['context'],
    });
    expect(await answer('atrium/chatTurns', { channel: CHAT, start: 0, end: 1, context: 1 })).toEqual({
      turns: ['turn'],
    });
  });

  it('looks up what a session can be configured with', async () => {
    const { answer, sessions } = requestsOf();
    expect([answer('resolveSessionConfig', { a: 1 }), await answer('sessionConfigCompletions', { b: 1 })]).toEqual([
      'resolved',
      { items: ['value'] },
    ]);
    expect([sessions.choices.resolve.mock.calls, sessions.choices.completions.mock.calls]).toEqual([
      [[{ a: 1 }]],
      [[{ b: 1 }]],
    ]);
  });
});

describe('a dispatched action', () => {
  const title = { type: 'session/titleChanged', title: 'x' };
  const origin = { clientId: 'c', epoch: 1, clientSeq: 1 };

  function setUp({
    sent = { kind: 'new', origin } as object,
    isDecided = false,
    needsStates = false,
    entries = [] as object[],
  } = {}) {
    const target = { dispatch: vi.fn(async () => {}), answerDeferred: vi.fn() };
    const received = {
      take: vi.fn(async () => sent),
      deciding: vi.fn(async (_origin: object, decision: Promise<void>) => decision),
      decided: vi.fn(async () => isDecided),
    };
    const logger = { log: vi.fn() };
    const context = {
      ...{ open: vi.fn(async (uri: string) => (uri === S ? target : undefined)), clients: { received }, logger },
      ...{ log: { read: vi.fn(async () => entries) }, view: { sessionUriOf: () => undefined } },
      control: new AccessControl({} as never, () => 0),
    };
    const encodeSteps = vi.fn((_memory: object, group: { steps: { envelope: object }[] }) => ({
      frames: [{ params: { told: group.steps[0]?.envelope } }],
    }));
    const connection = {
      ...{ identity: { clientId: 'c' }, name: 'n', dialect: { traits: { needsStates }, encodeSteps } },
      ...{ reject: vi.fn(), answerAgain: vi.fn(), echoDeferred: vi.fn(), access: OWNER },
    };
    const original = { channel: S, action: title };
    const dispatch = (action: object = title, more: object = {}) =>
      dispatchAction(
        context as never,
        connection as never,
        { kind: 'dispatch', channel: S, clientSeq: 1, original, action, ...more } as never,
      );
    const refuse = (more: object = {}) =>
      refuseAction(
        context as never,
        connection as never,
        { kind: 'reject', original, clientSeq: 1, reason: 'no', ...more } as never,
      );
    return { target, received, logger, context, connection, original, dispatch, refuse };
  }

  it('[AHP-117] is given to its channel when it is new and has the right shape', async () => {
    const { target, dispatch, connection, received, original } = setUp();
    await dispatch();
    expect(target.dispatch.mock.calls).toMatchObject([[title, origin, {}]]);
    expect(received.take).toHaveBeenCalledWith(
      { clientId: 'c' },
      expect.objectContaining({ type: title.type, clientSeq: 1 }),
    );
    await dispatch({ type: 'session/titleChanged' });
    expect(connection.reject.mock.calls).toEqual([[original, origin, expect.stringContaining('title')]]);
    await dispatch({ type: SELECTION_CHANGED, model: { id: 'm' } });
    expect(target.dispatch).toHaveBeenCalledTimes(2);
    const asker = (
      target.dispatch.mock.calls as unknown as [
        object,
        object,
        { deferred(origin: object): void; reject(origin: object, why: string): void },
      ][]
    )[0]?.[2];
    asker?.deferred(origin);
    asker?.reject(origin, 'why');
    expect([connection.echoDeferred.mock.lastCall, connection.reject.mock.lastCall]).toEqual([
      [original, origin],
      [original, origin, 'why'],
    ]);
  });

  it('[AHP-117] need not say what the host stamps, or makes up', async () => {
    const { target, dispatch, connection } = setUp();
    const message = { text: 'x', origin: { kind: 'user' } };
    await dispatch({ type: 'chat/turnStarted', turnId: 't', message });
    await dispatch({ type: 'chat/turnCancelled', turnId: 't' });
    await dispatch({ type: 'chat/pendingMessageSet', kind: 'queued', message });
    await dispatch({ type: 'chat/turnCancelled', turnId: 't', duration: 7 });
    expect(connection.reject).not.toHaveBeenCalled();
    expect((target.dispatch.mock.calls as unknown as [object][]).map(([action]) => action)).toMatchObject([
      { startedAt: '' },
      { duration: -1 },
      { id: expect.stringMatching(/^[\da-f-]{36}$/) },
      { duration: 7 },
    ]);
  });

  it('[AHP-114] is dropped without a channel, a client, or a number that can be used', async () => {
    const { target, dispatch, received, connection, logger } = setUp();
    await dispatch(title, { channel: 'ahp-session:/x' });
    for (const clientSeq of [-1, 1.5, Number.NaN]) await dispatch(title, { clientSeq });
    expect(logger.log).toHaveBeenCalledTimes(3);
    Object.assign(connection, { identity: undefined });
    await dispatch();
    expect([received.take.mock.calls.length, target.dispatch.mock.calls.length]).toEqual([0, 0]);
    Object.assign(connection, { identity: { clientId: 'c' } });
    await dispatch(title, { clientSeq: 0 });
    expect(target.dispatch).toHaveBeenCalledOnce();
  });

  it('[DEV-021] is rejected when its channel has left the bounds of its sender while it was opened', async () => {
    const { context, connection, target, dispatch, original } = setUp();
    const canOpen = vi.spyOn(context.control, 'canOpen').mockReturnValueOnce(true).mockReturnValueOnce(false);
    await dispatch();
    expect(canOpen).toHaveBeenCalledTimes(2);
    expect(target.dispatch).not.toHaveBeenCalled();
    expect(connection.reject.mock.calls).toEqual([[original, origin, `there is no ${S}`]]);
  });

  it('is rejected, without words of the host, when its channel fails', async () => {
    const { target, dispatch, connection, original, logger } = setUp();
    target.dispatch.mockRejectedValueOnce(new Error('secret'));
    await dispatch();
    expect(connection.reject.mock.calls).toEqual([[original, origin, 'the host failed; see its log']]);
    expect(logger.log.mock.lastCall?.[2]).toEqual({ channel: S, error: 'Error: secret' });
  });

  it('[REL-012] that was sent before gets its answer again, as it was stored', async () => {
    const answer = { serverSeq: 7 };
    const entry = { seq: 7, channel: S, action: '{"type":"session/titleChanged","title":"stored"}' };
    const resent = (options: object) => setUp({ sent: { kind: 'resend', origin, answer, ...options } });
    const again = async (setting: Parameters<typeof setUp>[0]) => {
      const { dispatch, connection, context, target } = setUp(setting);
      await dispatch();
      expect(target.dispatch).not.toHaveBeenCalled();
      return [connection.answerAgain.mock.calls, context.log.read.mock.calls] as const;
    };
    const sent = { kind: 'resend', origin, answer };
    const original = { channel: S, action: title };
    const told = { told: { channel: S, action: JSON.parse(entry.action), serverSeq: 7 } };
    expect(await again({ sent, entries: [entry] })).toEqual([[[told, origin, answer]], [[{ after: 6, limit: 1 }]]]);
    for (const entries of [[], [{ ...entry, seq: 8 }], [{ ...entry, action: '' }]])
      expect((await again({ sent, entries }))[0]).toEqual([[original, origin, answer]]);
    const rejected = { serverSeq: 7, reason: 'no' };
    expect(await again({ sent: { ...sent, answer: rejected }, entries: [entry] })).toEqual([
      [[original, origin, rejected]],
      [],
    ]);
    expect(await again({ sent: { ...sent, answer: {} }, entries: [entry] })).toEqual([[[original, origin, {}]], []]);
    expect((await again({ sent, entries: [entry], needsStates: true }))[0]).toEqual([[original, origin, answer]]);
    const waiting = resent({ answer: undefined });
    await waiting.dispatch();
    expect([waiting.target.answerDeferred.mock.calls.length, waiting.connection.answerAgain.mock.calls.length]).toEqual(
      [1, 0],
    );
  });

  it('[REL-012] that is just being decided is looked at again when it is', async () => {
    const { dispatch, received, target, connection } = setUp({ sent: { kind: 'resend', origin } });
    received.decided.mockResolvedValueOnce(true);
    received.take.mockResolvedValueOnce({ kind: 'resend', origin });
    received.take.mockResolvedValueOnce({ kind: 'resend', origin, answer: { serverSeq: undefined } });
    await dispatch();
    expect([received.take.mock.calls.length, target.answerDeferred.mock.calls.length]).toEqual([2, 0]);
    expect(connection.answerAgain).toHaveBeenCalledOnce();
  });

  it('[AHP-112] that no dialect can translate is rejected once, and its answer repeated', async () => {
    const fresh = setUp();
    await fresh.refuse({ channel: S });
    await fresh.refuse();
    await fresh.refuse({ channel: 'ahp-session:/x' });
    expect(fresh.connection.reject.mock.calls).toEqual(Array(2).fill([fresh.original, origin, 'no']));
    expect(fresh.received.take).toHaveBeenLastCalledWith({ clientId: 'c' }, expect.objectContaining({ type: '' }));
    const answer = { serverSeq: 3, reason: 'no' };
    const again = setUp({ sent: { kind: 'resend', origin, answer } });
    await again.refuse();
    expect(again.connection.answerAgain.mock.calls).toEqual([[again.original, origin, answer]]);
    const open = setUp({ sent: { kind: 'resend', origin } });
    await open.refuse();
    expect([open.connection.answerAgain.mock.calls.length, open.connection.reject.mock.calls.length]).toEqual([0, 0]);
  });
});
