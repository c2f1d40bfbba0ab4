/** A session with its chat over a log in memory: what clients cannot do to it, and how it comes back in line. */
import {
  type ChatState,
  chatReducer,
  PRIVATE,
  SELECTION_CHANGED,
  type SessionState,
  SessionStatus,
  sessionReducer,
  type Turn,
} from '@atrium/protocol/ahp-1';
import { describe, expect, it, vi } from 'vitest';
import { Channel } from '../../src/channels/channel.js';
import { DirectDelivery } from '../../src/channels/delivery.js';
import { Writer } from '../../src/channels/writer.js';
import { AGENT_MEMORY_MAX_CHARACTERS } from '../../src/contracts/agent.js';
import { LogWriteError } from '../../src/log/log.js';
import { MemoryLog } from '../../src/log/memory-log.js';
import { firstChat, stateOf } from '../../src/sessions/catalogue.js';
import { agentMemory } from '../../src/sessions/chat-agent.js';
import { TurnPages } from '../../src/sessions/history.js';
import { CLIENT_CLOCK_SLACK_MS, TURN_CONTINUED_MAX } from '../../src/sessions/limits.js';
import { afterDamage } from '../../src/sessions/recovery.js';
import { Session, type SessionOptions } from '../../src/sessions/session.js';
import { SessionRecords } from '../../src/sessions/session-records.js';
import { TurnLifecycle } from '../../src/sessions/turn.js';
import { TurnStarts } from '../../src/sessions/turn-starts.js';
import { WORKER_ADVICE } from '../../src/sessions/workers.js';
import { InputReferences } from '../../src/tool-calls/input-references.js';
import { silentLogger } from '../../src/util/logger.js';

const uri = 'ahp-session:/s';
const NOW = Date.parse('2026-01-01T00:00:00.000Z');
const message = { text: 'x', origin: { kind: 'user' as const } };

function sessionWith(
  change: {
    session?: Partial<SessionState>;
    chat?: Partial<ChatState>;
    models?: object[];
    abilities?: object;
    watchers?: object;
  } = {},
) {
  const time = { now: NOW };
  const log = new MemoryLog();
  const clock = { now: () => time.now, after: () => () => {} };
  const delivery = new DirectDelivery({ shown: 0, logger: silentLogger, show: () => {} });
  const around = { undone: () => {}, superseded: () => {} };
  const writer = new Writer({ log, clock, logger: silentLogger, delivery, ...around });
  const chat = { ...firstChat(uri, new Date(NOW).toISOString()), ...change.chat };
  const summary = { resource: uri, provider: 'p', title: '', status: 1, createdAt: '', modifiedAt: chat.modifiedAt };
  const state = { ...stateOf({ summary, lifecycle: 'ready' }), ...change.session };
  const options = {
    ...{ clock, logger: silentLogger, writer, log, restProcessesAfterMs: Number.POSITIVE_INFINITY },
    ...{
      tools: [],
      extensions: [],
      folderPlaces: undefined,
      programs: undefined,
      observers: [],
      records: new SessionRecords(log, writer),
    },
    inputs: new InputReferences({ inlineMaxCharacters: 8 }),
    turnStarts: new TurnStarts(),
    watchers: { isWatchedWithoutQuestions: () => false, loadedFrom: () => 0, ...change.watchers },
    catalogue: { current: () => undefined, find: () => undefined, set: vi.fn() },
    open: async () => undefined,
    backend: {
      info: { provider: 'p', models: change.models ?? [] },
      abilities: change.abilities ?? {},
      open: () => new Promise(() => {}),
    },
    channel: new Channel(uri, sessionReducer as never, state),
    chats: [
      {
        channel: new Channel(chat.resource, chatReducer as never, chat),
        pages: new TurnPages(log, chat.resource, { base: 0, archived: 0 }),
      },
    ],
  };
  const session = new Session(options as unknown as SessionOptions);
  let clientSeq = 0;
  const refusal = async (action: object) => {
    const reject = vi.fn();
    const origin = { clientId: 'c', epoch: 1, clientSeq: ++clientSeq };
    await session.chat.dispatch(action as never, origin, { reject, deferred: vi.fn() } as never);
    return reject.mock.calls[0]?.[1] as string | undefined;
  };
  return { session, chat: session.chat, time, refusal, writer, log };
}

describe('the end of a turn that a client stops', () => {
  async function stopped(duration: unknown) {
    const { chat, time, refusal } = sessionWith();
    await refusal({ type: 'chat/turnStarted', turnId: 't', message });
    time.now += 5_000;
    await refusal({ type: 'chat/turnCancelled', turnId: 't', duration });
    return { duration: chat.state.turns[0]?.duration, modifiedAt: Date.parse(chat.state.modifiedAt) - NOW };
  }

  it('[UP-249] is when the client says', async () => {
    for (const duration of [0, 812, 5_000, 5_000 + CLIENT_CLOCK_SLACK_MS])
      expect(await stopped(duration)).toEqual({ duration, modifiedAt: duration });
  });

  it('is when the host sees it, where the client says what cannot be', async () => {
    for (const duration of [-1, 5_001 + CLIENT_CLOCK_SLACK_MS, 8e15, Number.POSITIVE_INFINITY, '1', undefined])
      expect(await stopped(duration)).toEqual({ duration: 5_000, modifiedAt: 5_000 });
  });
});

describe('who waits for the end of a turn', () => {
  it('hears of it when it is stored, with the turn, and not before', async () => {
    const { chat, refusal, writer } = sessionWith();
    await refusal({ type: 'chat/turnStarted', turnId: 't', message });
    await writer.settled();
    const ended = vi.fn();
    const waiting = chat.turnEnd('t').then(ended);
    chat.write({ type: 'chat/activityChanged', activity: 'busy' } as never);
    await writer.settled();
    expect(ended).not.toHaveBeenCalled();
    await refusal({ type: 'chat/turnCancelled', turnId: 't', duration: 1 });
    expect(ended).not.toHaveBeenCalled();
    await writer.settled();
    await waiting;
    expect(ended).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ id: 't', state: 'cancelled' }));
    expect((await chat.turnEnd('t'))?.id).toBe('t');
    expect(await chat.turnEnd('none')).toBeUndefined();
  });
});

describe('a message that waits', () => {
  it('names a model that the agent has, as one that begins a turn does', async () => {
    const { refusal } = sessionWith({ models: [{ id: 'm' }], chat: { activeTurn: { id: 't' } as never } });
    const set = (id: string) => ({
      ...{ type: 'chat/pendingMessageSet', kind: 'queued', id: 'q', message: { ...message, model: { id } } },
    });
    expect(await refusal(set('m'))).toBeUndefined();
    expect(await refusal(set('x'))).toContain('no model "x"');
  });
});

describe('a chat that has left', () => {
  it('[UP-044] takes its questions along, and none of another chat; it is there again when that cannot be stored', async () => {
    const { session, chat, writer, log } = sessionWith();
    const resource = 'ahp-chat:/other';
    const state = { ...firstChat(uri, new Date(NOW).toISOString()), resource };
    const channel = new Channel(resource, chatReducer as never, state);
    const other = session.adopt({ channel, pages: new TurnPages(log, resource, { base: 0, archived: 0 }) } as never);
    await writer.settled();
    for (const [id, of] of [
      ['mine', chat.uri],
      ['its', resource],
    ]) {
      const request = { kind: 'chatInput', id, chat: of, request: { id, message: id, questions: [] } };
      session.write({ type: 'session/inputNeededSet', request: request as never });
    }
    await writer.settled();
    const append = vi.spyOn(log, 'append').mockRejectedValueOnce(new LogWriteError('failed', 'no'));
    session.drop(other);
    expect([session.chatAt(resource), other.isClosed]).toEqual([undefined, true]);
    await expect(writer.settled()).rejects.toThrow('no');
    expect([session.chatAt(resource), other.isClosed, session.state.inputNeeded?.length]).toEqual([other, false, 2]);
    append.mockRestore();
    session.drop(other);
    await writer.settled();
    expect(session.state.inputNeeded?.map(({ id }) => id)).toEqual(['mine']);
    expect([session.chatAt(resource), session.state.chats.map((each) => each.resource)]).toEqual([
      undefined,
      [chat.uri],
    ]);
  });

  it('shows nothing, writes nothing, and gives what it is sent to the one that is opened in its place', async () => {
    const { chat, refusal, session } = sessionWith();
    const taken = () => chat.takeSnapshot({ sendsStoredJson: false }) !== undefined;
    expect([chat.isClosed, taken()]).toEqual([false, true]);
    const back = chat.handOver();
    expect([chat.isClosed, session.isClosed, taken()]).toEqual([true, false, false]);
    expect(await refusal({ type: 'chat/turnStarted', turnId: '', message })).toBeUndefined();
    back();
    expect([chat.isClosed, taken()]).toEqual([false, true]);
    expect(await refusal({ type: 'chat/turnStarted', turnId: '', message })).toBe('a turn needs an id');
    await session.close();
    expect([chat.isClosed, taken()]).toEqual([true, false]);
  });
});

describe('what a session keeps for others', () => {
  it('[AHP-155] is told again to a client that resends a deferred action, while it is deferred', () => {
    const { session } = sessionWith({ chat: { activeTurn: { id: 't' } as never } });
    const origin = { clientId: 'c', epoch: 1, clientSeq: 7 };
    const asker = { reject: vi.fn(), deferred: vi.fn() };
    session.answerDeferred(origin, asker);
    expect(asker.deferred).not.toHaveBeenCalled();
    session.restoreDeferred([{ action: { type: SELECTION_CHANGED } as never, origin }]);
    session.answerDeferred({ ...origin, clientSeq: 8 }, asker);
    session.answerDeferred(origin, asker);
    expect([asker.deferred.mock.calls, session.isDeferring(origin)]).toEqual([[[origin]], true]);
  });

  it('[REL-062] is, for its default chat, under its own name, as before there were chats', () => {
    const { session, chat } = sessionWith();
    expect([chat.ownKey, session.uri]).toEqual([uri, uri]);
    expect(chat.uri).not.toBe(uri);
  });

  it('[REL-098] is what an agent remembers, up to a limit, and stored when it changes', async () => {
    const records = { agentMemory: async () => '{"a":1}', setAgentMemory: vi.fn() };
    const memory = await agentMemory('c', records as never);
    expect(memory.get()).toEqual({ a: 1 });
    memory.set({ a: 1 });
    const most = 'x'.repeat(AGENT_MEMORY_MAX_CHARACTERS - 2);
    memory.set(most);
    expect(() => memory.set(`${most}x`)).toThrow(`${AGENT_MEMORY_MAX_CHARACTERS} characters, not ${most.length + 3}`);
    expect(memory.get()).toBe(most);
    memory.set(undefined);
    expect([memory.get(), records.setAgentMemory.mock.calls]).toEqual([
      undefined,
      [
        ['c', JSON.stringify(most)],
        ['c', undefined],
      ],
    ]);
  });
});

describe('a session that was damaged on disk', () => {
  it('[REL-064] lists what its chat is, and what waits there', () => {
    const toolCall = { toolCallId: 'k', status: 'pending-confirmation' };
    const stale = { kind: 'toolConfirmation', id: 'tool:k', chat: 'ignored', turnId: 't', toolCall };
    const { session, chat } = sessionWith({ chat: { title: 'Chat', activity: 'busy' } });
    const before = { ...stale, chat: chat.uri } as never;
    session.write({ type: 'session/inputNeededSet', request: before });
    expect(session.state.status & SessionStatus.InputNeeded).toBe(SessionStatus.InputNeeded);
    afterDamage(session);
    expect(session.state).toMatchObject({ activity: 'busy', chats: [{ resource: chat.uri, title: 'Chat' }] });
    expect(session.state.inputNeeded).toBeUndefined();
    expect(session.state.status & SessionStatus.InputNeeded).not.toBe(SessionStatus.InputNeeded);
  });

  it('[REL-064] ends its turn, and with it what waited there', () => {
    const call = { toolCallId: 'k', toolName: 'n', displayName: 'Tool', status: 'pending-confirmation' };
    const responseParts = [{ kind: 'toolCall', toolCall: call }] as never;
    const activeTurn = { id: 't', startedAt: new Date(NOW).toISOString(), message, responseParts };
    const { session, chat } = sessionWith({ chat: { activeTurn } });
    session.relist();
    expect(session.state.inputNeeded).toMatchObject([{ id: 'tool:k' }]);
    afterDamage(session);
    expect([chat.state.activeTurn, session.state.inputNeeded]).toEqual([undefined, undefined]);
  });
});

describe('a turn that goes on in place', () => {
  function lifecycle(soFar: object[] | undefined, advice: object, state: object = {}, given: object = {}) {
    const notes: string[] = [];
    const beforeTurn = vi.fn(async () => advice);
    const [beforeEnd, beforeWorkerEnd] = [vi.fn(async () => 'not yet'), vi.fn(async () => 'not yet')];
    const chatState = { turns: [], ...state };
    const session = {
      chats: [{ state: chatState }],
      extensions: {
        all: () => [{ name: 'x', beforeTurn, beforeEnd, beforeWorker: async () => advice, beforeWorkerEnd }],
      },
    };
    const turn = {
      ...{ id: 't', soFar, signal: new AbortController().signal, notify: (note: string) => notes.push(note) },
      ...{ chat: { uri: 'c', state: chatState, session }, takeSteering: () => ({ text: 'steered' }) },
    };
    const options = { clock: { now: () => 0, after: () => () => {} }, logger: silentLogger, ...given };
    const course = new TurnLifecycle(turn as never, options as never, message);
    return { course, notes, beforeTurn, beforeEnd, beforeWorkerEnd, chatState };
  }
  const note = { kind: 'systemNotification', content: 'note' };

  it('is asked about again: it may have failed before, and what extensions add is not stored', async () => {
    for (const soFar of [undefined, [], [{ kind: 'markdown', content: 'x' }]]) {
      const { course, notes } = lifecycle(soFar, { context: ['known'], note: 'note' });
      await course.begin();
      expect([course.context, notes]).toEqual([['known'], ['note']]);
    }
    await expect(lifecycle([], { blocked: 'no' }).course.begin()).rejects.toThrow('no');
  });

  it('shows a note once', async () => {
    const { course, notes } = lifecycle([note], { note: 'note' });
    await course.begin();
    expect(notes).toEqual([]);
  });

  it('has another message when it is sent on', async () => {
    const { course } = lifecycle([note], {});
    expect(course.hasNewMessage).toBe(false);
    expect(await course.goesOn()).toBe(true);
    expect([course.hasNewMessage, course.message.text]).toEqual([true, expect.stringContaining('not yet')]);
    expect([course.wasContinued, course.context, course.message.origin]).toEqual([
      ...[true, []],
      { kind: 'systemNotification' },
    ]);
  });

  it(`[CUS-052] is sent on ${TURN_CONTINUED_MAX} times at most, and says then that it ends`, async () => {
    const { course, notes, beforeEnd } = lifecycle([], {});
    for (let count = 0; count < TURN_CONTINUED_MAX; count += 1) expect(await course.goesOn()).toBe(true);
    expect(notes).toEqual(Array(TURN_CONTINUED_MAX).fill('x: not yet'));
    expect(await course.goesOn()).toBe(false);
    expect(notes.slice(-2)).toEqual(['x: not yet', expect.stringContaining(`${TURN_CONTINUED_MAX} times`)]);
    expect(beforeEnd.mock.calls.map((call: unknown[]) => call[0]).slice(0, 2)).toEqual([
      { turnId: 't', wasContinued: false },
      { turnId: 't', wasContinued: true },
    ]);
  });

  it('[CUS-052] as a worker is told so, and is sent on unless its agent runs it by itself', async () => {
    const spoken = (content: string) => ({ kind: 'markdown', content });
    const responseParts = [spoken('one'), spoken('two'), spoken(''), { kind: 'toolCall' }];
    const state = { origin: { kind: 'tool' }, title: 'Look', activeTurn: { id: 't', responseParts } };
    const { course, notes, beforeTurn, beforeWorkerEnd } = lifecycle([], { context: 'known', note: 'note' }, state);
    await course.begin();
    expect([course.context, notes, beforeTurn.mock.calls]).toEqual([[WORKER_ADVICE, 'known'], ['note'], []]);
    expect(await course.goesOn()).toBe(true);
    const ending = { chat: 'c', turnId: 't', title: 'Look', wasContinued: false, lastText: 'two' };
    expect((beforeWorkerEnd.mock.calls as unknown[][])[0]?.[0]).toEqual(ending);
    const own = lifecycle([], {}, { origin: { kind: 'tool' } }, { worker: { agent: {} } });
    expect([await own.course.goesOn(), own.notes.length, own.course.hasNewMessage]).toEqual([false, 2, false]);
    expect((own.beforeWorkerEnd.mock.calls as unknown[][])[0]?.[0]).toMatchObject({ lastText: '' });
  });

  it('goes on with what a person said while extensions were asked, where the agent takes that', async () => {
    const steered = async (abilities: object, before: object, meanwhile: object) => {
      const { course, beforeEnd, chatState } = lifecycle([], {}, before, { backend: { abilities } });
      beforeEnd.mockImplementation(async () => {
        Object.assign(chatState, meanwhile);
        return undefined as never;
      });
      return [await course.goesOn(), course.message.text];
    };
    const said = (id: string) => ({ steeringMessage: { id } });
    expect(await steered({ steer: true }, {}, said('a'))).toEqual([true, 'steered']);
    expect(await steered({ steer: true }, said('a'), said('b'))).toEqual([true, 'steered']);
    expect(await steered({ steer: true }, said('a'), said('a'))).toEqual([false, message.text]);
    expect(await steered({ steer: true }, said('a'), { steeringMessage: undefined })).toEqual([false, message.text]);
    expect(await steered({}, {}, said('a'))).toEqual([false, message.text]);
  });

  it('[UP-039] of a side chat is first told which words it is about', async () => {
    const context = async (state: object) => {
      const { course } = lifecycle([], { context: 'known' }, state);
      await course.begin();
      return course.context;
    };
    const origin = { kind: 'sideChat', selection: { text: 'these words' } };
    expect(await context({ origin })).toEqual([expect.stringMatching(/selected.*\nthese words$/), 'known']);
    expect(await context({ origin, turns: [{}] })).toEqual(['known']);
    expect(await context({ origin: { kind: 'sideChat' } })).toEqual(['known']);
    expect(await context({ origin: { ...origin, kind: 'fork' } })).toEqual(['known']);
  });
});

describe('a call that a person is asked about', () => {
  const place = { turnId: 't', toolCallId: 'k' };
  const ready = { type: 'chat/toolCallReady', ...place, invocationMessage: 'Look', confirmationTitle: 'May it?' };

  async function asked(toolInput: string) {
    const activeTurn = { id: 't', message, responseParts: [], startedAt: new Date(NOW).toISOString() };
    const { session, chat, refusal, writer, log } = sessionWith({ chat: { activeTurn } as unknown as ChatState });
    const start = { type: 'chat/toolCallStart', ...place, toolName: 'look', displayName: 'Look' };
    chat.write(start as never);
    chat.write({ ...ready, toolInput, editable: true } as never);
    await writer.settled();
    /** What is stored from here on, and how each action is marked for older wires. */
    const marks = async () => {
      await writer.settled();
      const actions = (await log.read({ after: 0, channel: chat.uri })).map(({ action }) => JSON.parse(action));
      return actions.slice(2).map((action) => [action.type.slice('chat/toolCall'.length), action[PRIVATE]?.pending]);
    };
    return { session, chat, refusal, marks };
  }
  const approve = (editedToolInput?: string) => ({
    ...{ type: 'chat/toolCallConfirmed', ...place, approved: true, confirmed: 'user-action' },
    ...(editedToolInput !== undefined && { editedToolInput }),
  });

  it('[UP-250] shows an edit that is long, or takes the place of a long input, before it is approved', async () => {
    const told = async (before: string, action: object) => {
      const { refusal, marks } = await asked(before);
      expect(await refusal(action)).toBeUndefined();
      return marks();
    };
    const shown = [
      ['Ready', 'edited'],
      ['Confirmed', undefined],
    ];
    expect(await told('{}', approve('{"long":1}'))).toEqual(shown);
    expect(await told('{"long":1}', approve('{}'))).toEqual(shown);
    expect(await told('{}', approve('{"a":1}'))).toEqual([['Confirmed', undefined]]);
    expect(await told('{"long":1}', approve())).toEqual([['Confirmed', undefined]]);
  });

  it('[UP-120] is marked for wires that cannot ask twice: with what changed, or without', async () => {
    const { chat, marks } = await asked('{}');
    chat.write({ ...ready, riskAssessment: { kind: 'judge', status: 'loading' } } as never);
    chat.write({ ...ready, confirmationTitle: 'Really?' } as never);
    expect(await marks()).toEqual([
      ['Ready', 'unchanged'],
      ['Ready', 'changed'],
    ]);
  });
});

describe('the stored turns of a chat', () => {
  const ended = (id: string, more: object = {}) =>
    ({ id, message, responseParts: [], state: 'complete', startedAt: '', duration: 0, ...more }) as unknown as Turn;
  async function stored(turns: Turn[], actions: object[]) {
    const { session, chat, refusal, writer, log } = sessionWith({ chat: { turns }, abilities: { resume: true } });
    session.storeArchive();
    await writer.settled();
    for (const action of actions) expect(await refusal(action)).toBeUndefined();
    await writer.settled();
    const texts = (await log.archivedTurns(chat.uri, { start: 0, end: 10, maxBytes: 1e6 })).map(({ json }) => json);
    expect(texts.map((text) => JSON.parse(text))).toEqual(JSON.parse(JSON.stringify(chat.state.turns)));
    return chat.state.turns.map(({ id, state }) => `${id} ${state}`);
  }
  const started = { type: 'chat/turnStarted', turnId: 'u', message };
  const stop = (turnId: string) => ({ type: 'chat/turnCancelled', turnId, duration: 0 });

  it('[REL-064] are those of the chat when history is cut and goes on in one tick', async () => {
    const cut = { type: 'chat/truncated', turnId: 'a' };
    expect(await stored([ended('a'), ended('b'), ended('c')], [cut, started, stop('u')])).toEqual([
      'a complete',
      'u cancelled',
    ]);
  });

  it('[REL-064] are those of the chat when a turn goes on and ends in one tick', async () => {
    const failed = ended('b', { state: 'error', responseParts: [{ kind: 'error', error: {}, resumable: true }] });
    const resume = { type: 'chat/turnResume', turnId: 'b' };
    expect(await stored([ended('a'), failed], [resume, stop('b')])).toEqual(['a complete', 'b cancelled']);
  });

  it.each([
    ['that has only newer turns', 2, [[1, ['b', 'c']]]],
    ['that has the turn', 1, []],
  ])('[UP-034] are sent to a client %s before history is cut there', async (_, loadedFrom, sent) => {
    const loadTurns = vi.fn();
    const watchers = { loadedFrom: () => loadedFrom, loadTurns };
    const { refusal, chat } = sessionWith({ chat: { turns: [ended('a'), ended('b'), ended('c')] }, watchers });
    expect(await refusal({ type: 'chat/truncated', turnId: 'b' })).toBeUndefined();
    const told = loadTurns.mock.calls.map(([, index, turns]) => [index, turns.map(({ id }: Turn) => id)]);
    expect([told, chat.state.turns.map(({ id }) => id)]).toEqual([sent, ['a', 'b']]);
  });

  it('[REL-033] are stored with the next archive when one could not be stored', async () => {
    const { session, chat, refusal, writer, log } = sessionWith({ chat: { turns: [ended('a')] } });
    session.storeArchive();
    await writer.settled();
    vi.spyOn(log, 'append').mockRejectedValueOnce(new LogWriteError('disk-full', 'full'));
    await refusal(started);
    await refusal(stop('u'));
    await expect(writer.settled()).rejects.toThrow('full');
    expect(chat.state.turns.map(({ id }) => id)).toEqual(['a']);
    await refusal({ ...started, turnId: 'v' });
    await refusal(stop('v'));
    await writer.settled();
    const turns = await log.archivedTurns(chat.uri, { start: 0, end: 10, maxBytes: 1e6 });
    expect(turns.map(({ json }) => JSON.parse(json).id)).toEqual(['a', 'v']);
  });
});
