/** The parts of a session by themselves: what waits, what is noted beside it, what rests, and what people are asked. */
import {
  type ChatAction,
  type ChatState,
  SELECTION_CHANGED,
  type SessionAction,
  type SessionState,
  sessionReducer,
  standingEntry,
} from '@atrium/protocol/ahp-1';
import { describe, expect, it, vi } from 'vitest';
import type { Step } from '../../src/channels/channel.js';
import { DirectDelivery } from '../../src/channels/delivery.js';
import { Writer } from '../../src/channels/writer.js';
import { jsonText } from '../../src/log/log.js';
import { MemoryLog } from '../../src/log/memory-log.js';
import { DeferredActions } from '../../src/sessions/deferred-actions.js';
import { IdleProcesses, IdleUnloader } from '../../src/sessions/idle.js';
import { neededBy } from '../../src/sessions/input-needed.js';
import {
  CLIENT_GRACE_MS,
  DEFERRED_ACTIONS_MAX,
  IDLE_SESSION_MS,
  LISTED_CALL_MAX_CHARACTERS,
} from '../../src/sessions/limits.js';
import { askPerson, StandingRequests } from '../../src/sessions/questions.js';
import { type ChatStep, SessionObservers } from '../../src/sessions/session-observer.js';
import { Naming, SessionRecords, ToolPermissions } from '../../src/sessions/session-records.js';
import type { TurnRunner } from '../../src/sessions/turn.js';
import { NO_CALL, Waiters } from '../../src/sessions/waiters.js';
import { silentLogger } from '../../src/util/logger.js';

const origin = (clientSeq: number, more: object = {}) => ({ clientId: 'c', epoch: 1, clientSeq, ...more });
const step = (action: object, before: object = {}, after: object = {}) =>
  ({ chat: { uri: 'c' }, action, before, after, origin: undefined, time: 0 }) as unknown as ChatStep;

function testClock() {
  const timers: { ms: number; run: () => void }[] = [];
  const after = (ms: number, run: () => void) => {
    const timer = { ms, run };
    timers.push(timer);
    return () => {
      const index = timers.indexOf(timer);
      if (index >= 0) timers.splice(index, 1);
    };
  };
  return { clock: { now: () => 0, after }, timers, ring: () => timers.shift()?.run() };
}

function recorded() {
  const log = new MemoryLog();
  const { clock } = testClock();
  const nothing = () => {};
  const delivery = new DirectDelivery({ shown: 0, logger: silentLogger, show: nothing });
  const writer = new Writer({ log, clock, logger: silentLogger, delivery, undone: nothing, superseded: nothing });
  return { log, writer, records: new SessionRecords(log, writer) };
}

describe('actions that wait for the end of a turn', () => {
  function deferred() {
    const failures: (() => void)[] = [];
    const calls = { noted: vi.fn(), setDeferred: vi.fn() };
    const actions = new DeferredActions({
      ...{ deferrals: { deferred: calls.noted }, records: { setDeferred: calls.setDeferred }, channel: { uri: 's' } },
      writer: { afterFailure: (run: () => void) => failures.push(run) },
    } as never);
    const asker = { reject: vi.fn(), deferred: vi.fn() };
    const defer = (seq: number, more: object = {}) =>
      actions.defer({ type: SELECTION_CHANGED, seq } as never, origin(seq, more), asker);
    const released = () => {
      const applied: unknown[] = [];
      actions.release((action) => applied.push((action as unknown as { seq: number }).seq));
      return applied;
    };
    return { actions, asker, defer, released, failures, ...calls };
  }

  it('are stored once each, and applied in order', () => {
    const { actions, defer, released, setDeferred, noted, asker } = deferred();
    expect([actions.isEmpty, actions.isFull, released()]).toEqual([true, false, []]);
    expect(setDeferred).not.toHaveBeenCalled();
    for (const seq of [1, 2, 1]) defer(seq);
    expect(setDeferred.mock.calls.map(([uri, list]) => [uri, list.length])).toEqual([
      ['s', 1],
      ['s', 2],
    ]);
    expect([noted.mock.calls.length, asker.deferred.mock.calls.length]).toEqual([3, 3]);
    expect([actions.isEmpty, actions.has(origin(2)), actions.has(origin(3))]).toEqual([false, true, false]);
    expect(actions.has(origin(2, { epoch: 2 })) || actions.has(origin(2, { clientId: 'd' }))).toBe(false);
    expect(released()).toEqual([1, 2]);
    expect([actions.isEmpty, setDeferred.mock.lastCall]).toEqual([true, ['s', []]]);
  });

  it('wait again, before what came since, when their end could not be stored', () => {
    const { defer, released, failures } = deferred();
    defer(1);
    defer(2);
    released();
    defer(3);
    defer(2);
    failures[0]?.();
    expect(released()).toEqual([1, 2, 3]);
  });

  it(`[REL-098] are ${DEFERRED_ACTIONS_MAX} at most`, () => {
    const { actions, defer } = deferred();
    for (let seq = 1; seq < DEFERRED_ACTIONS_MAX; seq += 1) defer(seq);
    expect(actions.isFull).toBe(false);
    defer(DEFERRED_ACTIONS_MAX);
    expect(actions.isFull).toBe(true);
  });
});

describe('those who wait for an action', () => {
  it('wake for what they wait for, and not for others', async () => {
    const waiters = new Waiters();
    const find = vi.fn(
      (_: unknown, seen?: Step<ChatState>) => (String(seen?.action.type) === 'b' ? 'found' : undefined) as never,
    );
    const found = waiters.wait(['call', NO_CALL], find);
    waiters.observe(step({ type: 'b', toolCallId: 'other' }));
    expect(find).not.toHaveBeenCalled();
    waiters.observe(step({ type: 'a' }));
    waiters.observe(step({ type: 'b', toolCallId: 'call' }));
    waiters.observe(step({ type: 'b' }));
    expect(await found).toBe('found');
    expect(find).toHaveBeenCalledTimes(2);
  });

  it('are told when the turn is over', async () => {
    const waiters = new Waiters();
    const waiting = waiters.wait([NO_CALL], () => undefined);
    waiters.abandon();
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError', message: 'the turn is over' });
    expect(() => waiters.observe(step({ type: 'a' }))).not.toThrow();
  });
});

describe('facts beside a session', () => {
  it('are kept apart, and go with it', async () => {
    const { log, writer, records } = recorded();
    const deferred = [{ action: { type: SELECTION_CHANGED }, origin: origin(1) }] as never;
    records.setActive('s', true);
    records.setDeferred('s', deferred);
    records.setAllowed('s', ['tool']);
    records.setNamed('s');
    records.setAgentMemory('s', jsonText('memory'));
    records.setModelBefore('s', { model: { id: 'm' } });
    records.setUnfinished('s', 7);
    records.setActive('other', true);
    await writer.settled();
    expect(await records.interrupted()).toEqual(['other', 's']);
    expect([await records.deferred('s'), await records.deferred('t')]).toEqual([deferred, []]);
    expect([await records.allowed('s'), await records.allowed('t')]).toEqual([['tool'], []]);
    expect([await records.isNamed('s'), await records.isNamed('t')]).toEqual([true, false]);
    expect([await records.agentMemory('s'), await records.modelBefore('s')]).toEqual([
      '"memory"',
      { model: { id: 'm' } },
    ]);
    expect(await records.unfinished()).toEqual([{ uri: 's', since: 7 }]);
    records.setDeferred('s', []);
    records.setActive('other', false);
    records.setUnfinished('s', undefined);
    await writer.settled();
    expect([await records.deferred('s'), await records.interrupted(), await records.unfinished()]).toEqual([
      [],
      ['s'],
      [],
    ]);
    records.forget('s');
    await writer.settled();
    expect(await log.records('')).toEqual([]);
  });

  it('tell whose tool a person allowed, also after a restart', async () => {
    const { writer, records } = recorded();
    const permissions = new ToolPermissions(records, 's');
    const setAllowed = vi.spyOn(records, 'setAllowed');
    permissions.add({ name: 'a' });
    permissions.add({ name: 'a' });
    permissions.add({ owner: 'o', name: 'b', identity: 'i' });
    expect(setAllowed).toHaveBeenCalledTimes(2);
    await writer.settled();
    expect(await records.allowed('s')).toEqual(['["","a"]', '["o","b","i"]']);
    const later = new ToolPermissions(records, 's');
    expect(later.has({ name: 'a' })).toBe(false);
    await later.load();
    const tools = [{ name: 'a' }, { owner: 'o', name: 'b', identity: 'i' }];
    const others = [
      { owner: 'o', name: 'b', identity: 'j' },
      { owner: 'o', name: 'b' },
      { name: 'b', identity: 'i' },
      { name: 'x' },
    ];
    expect([...tools, ...others].map((tool) => later.has(tool))).toEqual([true, true, false, false, false, false]);
  });

  it('tell whether a person gave it its title', async () => {
    const { writer, records } = recorded();
    const setNamed = vi.spyOn(records, 'setNamed');
    const naming = new Naming(records, 's');
    const titled = { type: 'session/titleChanged', title: 'a' } as SessionAction;
    naming.observe(titled, undefined);
    naming.observe({ type: 'session/ready' }, origin(1));
    await naming.load();
    expect(naming.isByPerson).toBe(false);
    naming.observe(titled, origin(1));
    naming.observe(titled, origin(2));
    expect([naming.isByPerson, setNamed.mock.calls]).toEqual([true, [['s']]]);
    await writer.settled();
    const later = new Naming(records, 's');
    await later.load();
    expect(later.isByPerson).toBe(true);
  });
});

describe('the processes of a session that rests', () => {
  function processes(restAfterMs = 100) {
    const { clock, timers, ring } = testClock();
    const state = { isBusy: false };
    const end = vi.fn(async () => {});
    const idle = new IdleProcesses({
      ...{ clock, logger: silentLogger, suspendAfterMs: restAfterMs, session: 's', isBusy: () => state.isBusy, end },
    });
    return { idle, timers, ring, state, end };
  }

  it('end after a while, and are waited for before they are started again', async () => {
    const { idle, timers, ring, end } = processes();
    idle.used();
    idle.suspend();
    expect([timers.length, end.mock.calls.length]).toEqual([0, 0]);
    await idle.wake();
    idle.used();
    expect(timers.map(({ ms }) => ms)).toEqual([100]);
    const gone = vi.fn();
    end.mockImplementationOnce(() => new Promise((resolve) => setImmediate(resolve)).then(gone));
    ring();
    expect([idle.isSuspended, timers.length]).toEqual([true, 0]);
    idle.suspend();
    idle.used();
    expect([end.mock.calls.length, timers.length]).toEqual([1, 0]);
    await idle.wake();
    expect([gone.mock.calls.length, idle.isSuspended, timers.length]).toEqual([1, false, 1]);
  });

  it('stay while it is at work, and when they are to stay', async () => {
    const { idle, timers, ring, state, end } = processes();
    await idle.wake();
    state.isBusy = true;
    ring();
    expect([end.mock.calls.length, timers.length, idle.isSuspended]).toEqual([0, 1, false]);
    idle.stop();
    expect(timers).toEqual([]);
    const forever = processes(Number.POSITIVE_INFINITY);
    await forever.idle.wake();
    expect(forever.timers).toEqual([]);
    forever.idle.suspend();
    expect(forever.end).toHaveBeenCalledOnce();
  });
});

describe('a session that nobody watches', () => {
  function unloader() {
    const { clock, timers, ring } = testClock();
    const state = { isInMemory: true, isWatched: false };
    const unload = vi.fn(async () => {});
    const logger = { log: vi.fn() };
    const idle = new IdleUnloader({
      ...{ clock, logger, unload, isInMemory: () => state.isInMemory, isWatched: () => state.isWatched },
    });
    return { idle, timers, ring, state, unload, logger };
  }

  it('leaves memory after a while; its time starts again when it is used', async () => {
    const { idle, timers, ring, unload } = unloader();
    idle.used('s');
    idle.used('s');
    idle.used('t');
    expect(timers.map(({ ms }) => ms)).toEqual([IDLE_SESSION_MS, IDLE_SESSION_MS]);
    ring();
    expect(unload.mock.calls).toEqual([['s']]);
    idle.stop();
    expect(timers).toEqual([]);
  });

  it('stays while it is watched, and is tried again when it cannot leave', async () => {
    const { idle, timers, ring, state, unload, logger } = unloader();
    idle.used('s');
    state.isWatched = true;
    idle.used('s');
    expect(timers).toEqual([]);
    state.isWatched = false;
    idle.used('s');
    state.isWatched = true;
    ring();
    expect(unload).not.toHaveBeenCalled();
    state.isWatched = false;
    unload.mockRejectedValueOnce(new Error('busy'));
    idle.used('s');
    ring();
    await vi.waitFor(() => expect(timers).toHaveLength(1), { timeout: 10_000, interval: 0 });
    expect(logger.log).toHaveBeenCalledOnce();
    state.isInMemory = false;
    idle.used('t');
    expect(timers).toHaveLength(1);
  });
});

/** A chat with a running turn that asks these questions. */
const asks = (...requests: object[]) => ({
  activeTurn: { id: 't', responseParts: requests.map((request) => ({ kind: 'inputRequest', request })) },
});

describe('a question of a turn', () => {
  const request = { id: 'q', message: 'May I?', questions: [] };
  function asking() {
    const { clock, timers, ring } = testClock();
    const waiters = new Waiters();
    const written: ChatAction[] = [];
    const host = { canBeAnswered: true, state: asks(request) as object, isActive: true };
    const turn = {
      interrupt: vi.fn(),
      write: (action: ChatAction) => written.push(action),
      waitFor: (topics: string[], find: never) => waiters.wait(topics, find),
      get isActive() {
        return host.isActive;
      },
      chat: {
        session: { uri: 's' },
        get state() {
          return host.state;
        },
      },
    };
    const canBeAnswered = vi.fn(() => host.canBeAnswered);
    const options = { clock, watchers: { canBeAnswered } } as never;
    const outcome = askPerson(turn as unknown as TurnRunner, options, request as never);
    return { turn, waiters, written, host, outcome, timers, ring, canBeAnswered };
  }

  it('is answered with what was drafted, and what came with the answer', async () => {
    const { turn, waiters, written, outcome } = asking();
    expect(turn.interrupt).toHaveBeenCalledOnce();
    expect(written).toEqual([{ type: 'chat/inputRequested', request }]);
    const done = (requestId: string, answers?: object) => ({
      ...{ type: 'chat/inputCompleted', requestId, response: 'accept' },
      ...(answers && { answers }),
    });
    const before = asks({ id: 'x', answers: { z: 9 } }, { id: 'q', answers: { a: 1, b: 1 } });
    waiters.observe(step({ type: 'chat/activityChanged' }));
    waiters.observe(step(done('other')));
    waiters.observe(step(done('q', { b: 2 }), before));
    expect(await outcome).toEqual({ response: 'accept', answers: { a: 1, b: 2 } });
  });

  it('is taken back when only clients are there that cannot be asked', () => {
    const { written, host, timers, ring, canBeAnswered } = asking();
    expect(timers.map(({ ms }) => ms)).toEqual([CLIENT_GRACE_MS]);
    ring();
    expect([written.length, timers.length, canBeAnswered.mock.calls]).toEqual([1, 1, [['s']]]);
    host.canBeAnswered = false;
    ring();
    expect(written[1]).toEqual({ type: 'chat/inputCompleted', requestId: 'q', response: 'cancel' });
    const answered = {
      activeTurn: { id: 't', responseParts: [{ kind: 'inputRequest', request, response: 'accept' }] },
    };
    for (const change of [{ state: {} }, { state: asks({ id: 'x' }) }, { state: answered }, { isActive: false }]) {
      const over = asking();
      Object.assign(over.host, { canBeAnswered: false, ...change });
      over.ring();
      expect([over.written.length, over.timers.length]).toEqual([1, 0]);
    }
  });
});

describe('a question that outlives turns', () => {
  const request = { id: 'q', message: 'May I?', questions: [] } as never;
  const KNOWN = { 'x-atrium': { shown: true } };

  function standing(chatState: object = {}) {
    const written: SessionAction[] = [];
    const notes: ChatAction[] = [];
    const channel = { live: { activeClients: [], chats: [] } as unknown as SessionState };
    const host = { chat: chatState as ChatState, isNoteNeeded: false };
    const chat = {
      uri: 'c',
      get state() {
        return host.chat;
      },
      write: (action: ChatAction) => notes.push(action),
    };
    const requests = new StandingRequests({
      chat: chat as never,
      write: (action) => {
        written.push(action);
        channel.live = sessionReducer(channel.live, action);
      },
      state: () => channel.live,
      isNoteNeeded: () => host.isNoteNeeded,
    });
    const types = () => written.map(({ type }) => type.replace('session/inputNeeded', ''));
    const open = () => channel.live.inputNeeded ?? [];
    return { requests, written, notes, host, channel, types, open };
  }
  const turn = { activeTurn: { id: 't', responseParts: [] } };
  const completed = (requestId: string, answers?: object) =>
    step({ type: 'chat/inputCompleted', requestId, response: 'accept', ...(answers && { answers }) }, turn, turn);
  const drafted = (requestId: string, questionId: string, answer?: unknown) =>
    step({ type: 'chat/inputAnswerChanged', requestId, questionId, answer }, turn, turn);

  it('is asked again behind every turn, because older wires end it there, until it is answered', () => {
    const { requests, types, open } = standing();
    const answered = vi.fn();
    const withdraw = requests.ask(request, answered);
    expect(open()).toEqual([standingEntry('c', request)]);
    requests.observe(step({ type: 'chat/activityChanged' }, turn, turn));
    requests.observe(step({ type: 'chat/turnStarted' }, {}, turn));
    expect(types()).toEqual(['Set']);
    requests.observe(step({ type: 'chat/turnComplete' }, turn, {}));
    expect(types()).toEqual(['Set', 'Set']);
    requests.observe({ ...step({ type: 'chat/turnComplete' }, turn, {}), chat: { uri: 'other' } } as never);
    requests.observe({ ...completed('q'), chat: { uri: 'other' } } as never);
    expect([types(), answered.mock.calls]).toEqual([['Set', 'Set'], []]);
    requests.observe(completed('x'));
    expect(types()).toHaveLength(2);
    requests.observe(completed('q', { b: 2 }));
    expect(answered.mock.calls).toEqual([['accept', { b: 2 }]]);
    expect([types(), open()]).toEqual([['Set', 'Set', 'Removed'], []]);
    withdraw();
    requests.observe(completed('q'));
    requests.observe(step({ type: 'chat/turnComplete' }, turn, {}));
    expect([types().length, answered.mock.calls.length]).toEqual([3, 1]);
  });

  it('shares drafts of its answers, and is answered with them', () => {
    const { requests, written, open } = standing();
    const answered = vi.fn();
    requests.ask(request, answered);
    requests.observe(drafted('x', 'a', 1));
    requests.observe(drafted('q', 'a', 1));
    requests.observe(drafted('q', 'b', 1));
    requests.observe(drafted('q', 'c', 1));
    requests.observe(drafted('q', 'c'));
    expect(open()).toMatchObject([{ id: 'standing:q', request: { id: 'q', answers: { a: 1, b: 1 } } }]);
    requests.observe(step({ type: 'chat/turnComplete' }, turn, {}));
    expect(open()).toMatchObject([{ request: { answers: { a: 1, b: 1 } } }]);
    requests.observe(completed('q', { b: 2 }));
    expect(answered.mock.calls).toEqual([['accept', { a: 1, b: 2 }]]);
    // Older wires have seen drafts and answers on the chat; that the question stands again, they have not.
    expect(written.map((action) => 'x-atrium' in action)).toEqual([false, true, true, true, true, false, true]);
    expect(written.at(-1)).toEqual({ type: 'session/inputNeededRemoved', id: 'standing:q', ...KNOWN });
  });

  it('without the last draft is as it was', () => {
    const { requests, open } = standing();
    requests.ask(request, () => {});
    requests.observe(drafted('q', 'a', 1));
    requests.observe(drafted('q', 'a'));
    expect(open()).toEqual([standingEntry('c', request)]);
  });

  it('is not answered with a question of a turn that has the same id', () => {
    const { requests, open } = standing();
    const answered = vi.fn();
    requests.ask(request, answered);
    const same = asks({ id: 'q' });
    requests.observe(step({ type: 'chat/inputAnswerChanged', requestId: 'q', questionId: 'a', answer: 1 }, same, same));
    requests.observe(step({ type: 'chat/inputCompleted', requestId: 'q', response: 'accept' }, same, same));
    expect([answered.mock.calls.length, open()]).toEqual([0, [standingEntry('c', request)]]);
  });

  it('[REL-033] is asked again when that could not be stored, and taken back again', () => {
    const { requests, channel, written, open } = standing();
    const before = channel.live;
    requests.ask(request, () => {});
    const asked = channel.live;
    channel.live = before;
    requests.lost();
    expect(open()).toEqual([standingEntry('c', request)]);
    requests.lost();
    expect(written).toHaveLength(2);
    requests.observe(completed('q'));
    channel.live = asked;
    requests.lost();
    expect(open()).toEqual([]);
  });

  it('can be taken back, and changed under the same id', () => {
    const { requests, written, types, open } = standing();
    const first = requests.ask(request, () => {});
    const second = requests.ask({ ...(request as object), message: 'Now?' } as never, () => {});
    first();
    expect(types()).toEqual(['Set', 'Set']);
    expect(open()).toMatchObject([{ request: { message: 'Now?' } }]);
    second();
    second();
    expect(written.slice(2)).toEqual([{ type: 'session/inputNeededRemoved', id: 'standing:q' }]);
  });

  it('is a note for those who cannot be asked: once, within a turn', () => {
    const { requests, notes, host } = standing(turn);
    requests.ask(request, () => {});
    expect(notes).toEqual([]);
    host.isNoteNeeded = true;
    requests.observe(step({ type: 'chat/delta' }, turn, turn));
    expect(notes).toEqual([]);
    for (let round = 0; round < 2; round += 1) requests.observe(step({ type: 'chat/turnStarted' }, {}, turn));
    expect(notes).toEqual([
      { type: 'chat/responsePart', turnId: 't', part: { kind: 'systemNotification', content: 'May I?' } },
    ]);
    host.chat = {} as ChatState;
    requests.ask({ id: 'r', questions: [] } as never, () => {}, { note: 'note' });
    expect(notes).toHaveLength(1);
  });

  it('of an earlier run has nobody who waits for its answer; one of a turn has', () => {
    const { requests, channel, written, open } = standing();
    const ofTurn = { kind: 'chatInput', id: 'input:mine', chat: 'c', request: { id: 'mine' } };
    const before = [standingEntry('c', { id: 'old' } as never), ofTurn, { kind: 'toolConfirmation', id: 'tool:k' }];
    channel.live = { ...channel.live, inputNeeded: before } as unknown as SessionState;
    requests.ask(request, () => {});
    requests.withdrawStale();
    expect(written.slice(1)).toEqual([{ type: 'session/inputNeededRemoved', id: 'standing:old' }]);
    expect(open().map(({ id }) => id)).toEqual(['input:mine', 'tool:k', 'standing:q']);
    requests.withdrawStale();
    expect(written).toHaveLength(2);
  });
});

describe('what lives beside a session', () => {
  it('[REL-098] fails alone: the others see the action, and the log says what failed', () => {
    const logged: unknown[][] = [];
    const seen: string[] = [];
    const observer = (observe: () => void) => ({ observe, close: async () => {} });
    const fails = observer(() => {
      throw new Error('broken observer');
    });
    const observers = new SessionObservers([fails, observer(() => seen.push('seen'))], {
      log: (...entry) => void logged.push(entry),
    });
    observers.observe(step({ type: 'chat/usage' }));
    expect(seen).toEqual(['seen']);
    expect(logged).toEqual([['error', expect.any(String), { action: 'chat/usage', error: 'Error: broken observer' }]]);
  });

  it('[REL-057] hears of text only if it says so, and fails alone there, too', () => {
    const logged: unknown[][] = [];
    const seen: string[] = [];
    const close = async () => {};
    const fails = () => {
      throw new Error('broken listener');
    };
    const all = [
      { observe: () => seen.push('observer'), close },
      { textAdded: fails, close },
    ];
    const listener = { textAdded: ({ action }: ChatStep) => seen.push(action.type), close };
    const observers = new SessionObservers([...all, listener] as never, { log: (...entry) => void logged.push(entry) });
    observers.textAdded({ ...step({ type: 'chat/delta' }), chat: {} } as never);
    expect(seen).toEqual(['chat/delta']);
    expect(logged).toEqual([['error', expect.any(String), { action: 'chat/delta', error: 'Error: broken listener' }]]);
    observers.observe(step({ type: 'chat/usage' }));
    expect(seen).toEqual(['chat/delta', 'observer']);
  });
});

describe('the list of what waits', () => {
  it('[REL-098] has a large call without its output, which stands in the chat', () => {
    const call = (length: number) => ({
      ...{ toolCallId: 'c', status: 'pending-result-confirmation', toolInput: '{}' },
      content: [{ type: 'text', text: 'x'.repeat(length) }],
    });
    const listed = (length: number) => {
      const responseParts = [{ kind: 'toolCall', toolCall: call(length) }];
      const [entry] = neededBy({ resource: 'c', activeTurn: { id: 't', responseParts } } as unknown as ChatState);
      return (entry as { toolCall?: object }).toolCall;
    };
    const frame = JSON.stringify(call(0)).length;
    expect(listed(LISTED_CALL_MAX_CHARACTERS - frame)).toEqual(call(LISTED_CALL_MAX_CHARACTERS - frame));
    const { content: _, ...rest } = call(0);
    expect(listed(LISTED_CALL_MAX_CHARACTERS - frame + 1)).toEqual(rest);
  });
});
