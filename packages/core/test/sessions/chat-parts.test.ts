/** The parts of a chat by themselves: which session it belongs to, what is attached to a message, and its workers. */
import { setMaxListeners } from 'node:events';
import {
  defaultChatUri,
  type Message,
  type MessageChatAttachment,
  type Turn,
  workerChatUri,
} from '@atrium/protocol/ahp-1';
import { describe, expect, it, vi } from 'vitest';
import { DirectDelivery } from '../../src/channels/delivery.js';
import { STORE_RETRY_MS } from '../../src/channels/limits.js';
import { Writer } from '../../src/channels/writer.js';
import type { WorkerStart } from '../../src/contracts/agent.js';
import { MemoryLog } from '../../src/log/memory-log.js';
import type { Chat, ChatOptions } from '../../src/sessions/chat.js';
import { attachedTranscripts, pinnedChats } from '../../src/sessions/chat-attachments.js';
import { ChatIndex } from '../../src/sessions/chat-index.js';
import {
  CHAT_TRANSCRIPT_MAX_CHARACTERS,
  CHAT_TRANSCRIPT_MAX_TURNS,
  MESSAGE_CHATS_MAX,
  SESSION_CHATS_MAX,
  TURN_WORKERS_MAX,
  WORKERS_AT_ONCE_MAX,
} from '../../src/sessions/limits.js';
import { inputReader } from '../../src/sessions/tool-inputs.js';
import type { TurnRunner } from '../../src/sessions/turn.js';
import { TurnWorkers } from '../../src/sessions/workers.js';
import { InputReferences, namedInput } from '../../src/tool-calls/input-references.js';
import { REFERENCED_INPUT_MAX_BYTES } from '../../src/tool-calls/limits.js';
import { silentLogger } from '../../src/util/logger.js';

const S = 'ahp-session:/s';
const A = 'ahp-chat:/a';
const B = 'ahp-chat:/b';

function indexOn(log: MemoryLog) {
  const nothing = () => {};
  const clock = { now: () => 0, after: () => nothing };
  const delivery = new DirectDelivery({ shown: log.head, logger: silentLogger, show: nothing });
  const writer = new Writer({ log, clock, logger: silentLogger, delivery, undone: nothing, superseded: nothing });
  return { writer, index: new ChatIndex(log, writer) };
}

async function reopened(log: MemoryLog): Promise<ChatIndex> {
  const { index } = indexOn(log);
  await index.load();
  return index;
}

describe('the session of a chat', () => {
  it('[UP-017] is known at once and after a restart; a default chat says it itself', async () => {
    const log = new MemoryLog();
    const { writer, index } = indexOn(log);
    index.set(A, S, 'request');
    index.set(B, S);
    index.set('ahp-chat:/c', 'ahp-session:/t');
    await writer.settled();
    for (const each of [index, await reopened(log)]) {
      expect([A, B, defaultChatUri(S), 'ahp-chat:/x'].map((chat) => each.sessionUriOf(chat))).toEqual([
        ...[S, S, S],
        undefined,
      ]);
      expect([each.chatsOf(S), each.storedFor(S), each.chatsOf('ahp-session:/u')]).toEqual([[A, B], [A, B], []]);
      expect([A, B, 'ahp-chat:/x'].map((chat) => each.requestOf(chat))).toEqual(['request', undefined, undefined]);
      expect([each.has(A), each.has('ahp-chat:/x'), each.loose()]).toEqual([true, false, []]);
      expect([each.isUsedElsewhere(A, S), each.isUsedElsewhere('ahp-chat:/x', S)]).toEqual([true, false]);
    }
  });

  it('[UP-039] has no copy that is not finished, whose name is taken from all others', async () => {
    const log = new MemoryLog();
    const { writer, index } = indexOn(log);
    index.reserve(A, S);
    await writer.settled();
    for (const each of [index, await reopened(log)]) {
      expect([each.sessionUriOf(A), each.has(A), each.loose()]).toEqual([undefined, true, [[A, S]]]);
      expect([each.chatsOf(S), each.storedFor(S)]).toEqual([[], [A]]);
      expect([each.isUsedElsewhere(A, S), each.isUsedElsewhere(A, 'ahp-session:/t')]).toEqual([false, true]);
    }
    index.set(A, S);
    expect([index.sessionUriOf(A), index.chatsOf(S)]).toEqual([S, [A]]);
  });

  it('[UP-044] is lost once the removal is shown, and forgotten with what was stored', async () => {
    const log = new MemoryLog();
    const { writer, index } = indexOn(log);
    index.set(A, S);
    await writer.settled();
    index.release(A);
    index.release('ahp-chat:/x');
    expect(index.sessionUriOf(A)).toBe(S);
    await writer.settled();
    expect([index.sessionUriOf(A), index.loose(), (await reopened(log)).loose()]).toEqual([
      ...[undefined, [[A, S]]],
      [[A, S]],
    ]);
    index.forget(A);
    index.forget('ahp-chat:/x');
    await writer.settled();
    expect([index.has(A), index.storedFor(S), (await reopened(log)).has(A)]).toEqual([false, [], false]);
    expect(await log.records('chat:')).toEqual([]);
  });

  it('[REL-033] is as before when it could not be stored', async () => {
    const log = new MemoryLog();
    const { writer, index } = indexOn(log);
    index.reserve(A, S);
    await writer.settled();
    await log.close();
    index.set(A, S, 'request');
    index.set(B, S);
    await expect(writer.settled()).rejects.toThrow();
    expect([index.loose(), index.has(B), index.storedFor(S)]).toEqual([[[A, S]], false, [A]]);
  });
});

interface FakeTurn {
  readonly id: string;
  readonly text?: string;
  readonly parts?: readonly object[];
}

/** A chat with these finished turns. */
function chatOf(turns: readonly FakeTurn[], more: object = {}) {
  const all = turns.map(
    ({ id, text = id, parts = [] }) => ({ id, message: { text }, responseParts: parts }) as unknown as Turn,
  );
  const state = { turns: all, ...more };
  const indexOfTurn = vi.fn(async (id: string) => {
    const index = all.findIndex((turn) => turn.id === id);
    return index < 0 ? undefined : index;
  });
  const turnsBetween = vi.fn(async (start: number, end: number) => all.slice(start, end));
  return { state, committed: state, indexOfTurn, turnsBetween, showTurn: vi.fn() };
}

const attached = (resource: string, more: Partial<MessageChatAttachment> = {}) =>
  ({ type: 'chat', resource, label: resource.slice(-1), ...more }) as MessageChatAttachment;
const messageWith = (...attachments: object[]) => ({ text: 'hello', attachments }) as unknown as Message;
const opening =
  (chats: Record<string, object>) =>
  async (uri: string): Promise<never> =>
    chats[uri] as never;

describe('a chat that is attached to a message', () => {
  it('[UP-075] is pinned to its last turn, or to the one that is named, and everything else stays', async () => {
    const [a, b] = [chatOf([{ id: 'one' }, { id: 'two' }]), chatOf([])];
    const file = { type: 'file', uri: 'file:///x' };
    const message = messageWith(attached(A), file, attached(A, { endTurn: 'one' }), attached(B));
    expect(await pinnedChats(message, opening({ [A]: a, [B]: b }))).toEqual({
      message: messageWith(attached(A, { endTurn: 'two' }), file, attached(A, { endTurn: 'one' }), attached(B)),
    });
    expect(a.showTurn.mock.calls).toEqual([[0]]);
    const plain = messageWith(file);
    expect(await pinnedChats(plain, opening({}))).toEqual({ message: plain });
    expect(await pinnedChats({ text: 'x' } as Message, opening({}))).toEqual({ message: { text: 'x' } });
  });

  it.each<[string, MessageChatAttachment, string]>([
    ['there is none', attached(B), `there is no chat ${B}`],
    ['it is no chat', attached(S), `there is no chat ${S}`],
    ['its turn runs', attached(A, { endTurn: 'now' }), `turn now of ${A} is still running`],
    ['it has no such turn', attached(A, { endTurn: 'no' }), `${A} has no turn no`],
  ])('[UP-075] is refused when %s', async (_, attachment, refused) => {
    const chats = { [A]: chatOf([{ id: 'one' }], { activeTurn: { id: 'now' } }), [S]: chatOf([]) };
    expect(await pinnedChats(messageWith(attachment), opening(chats))).toEqual({ refused });
  });

  it(`[REL-098] is one of ${MESSAGE_CHATS_MAX} at most`, async () => {
    const open = opening({ [A]: chatOf([]) });
    const many = (count: number) => pinnedChats(messageWith(...Array(count).fill(attached(A))), open);
    expect(await many(MESSAGE_CHATS_MAX)).toHaveProperty('message');
    expect(await many(MESSAGE_CHATS_MAX + 1)).toEqual({
      refused: `a message may have at most ${MESSAGE_CHATS_MAX} chats attached`,
    });
  });

  it('[UP-075] is told to the model up to its turn: what people wrote, what the agent said, and its calls', async () => {
    const parts = [
      { kind: 'markdown', content: 'Hi.' },
      { kind: 'markdown', content: '' },
      { kind: 'reasoning', content: 'secret' },
      { kind: 'toolCall', toolCall: { toolName: 'shell', toolInput: `ls ${'x'.repeat(300)}` } },
      { kind: 'toolCall', toolCall: { toolName: 'wait' } },
    ];
    const chat = chatOf([{ id: 'one', text: 'Hello', parts }, { id: 'two', text: 'Bye' }, { id: 'three' }]);
    const message = messageWith(attached(A, { endTurn: 'two' }), attached(B), { type: 'file', uri: 'file:///x' });
    const [told = '', gone] = await attachedTranscripts(message, opening({ [A]: chat }));
    const lines = told.split('\n');
    expect(lines).toEqual([
      ...['Attached chat "a":', '<transcript>', 'Person: Hello', 'Agent: Hi.'],
      expect.stringMatching(/^Agent: \[used the tool shell ls x+…?.*\]$/),
      ...['Agent: [used the tool wait]', '', 'Person: Bye', '</transcript>'],
    ]);
    expect(lines[4]?.length).toBeLessThan(250);
    expect(gone).toBe('Attached chat "b":\n<transcript>\n[The chat no longer exists.]\n</transcript>');
    const cut = await attachedTranscripts(messageWith(attached(A, { endTurn: 'no' })), opening({ [A]: chat }));
    expect(cut[0]).toContain('no longer exists');
    const empty = await attachedTranscripts(messageWith(attached(A)), opening({ [A]: chatOf([]) }));
    expect(empty).toEqual(['Attached chat "a":\n<transcript>\n\n</transcript>']);
  });

  it('[REL-098] is told in its newest turns, as far as there is room for all', async () => {
    const long = Array.from({ length: CHAT_TRANSCRIPT_MAX_TURNS + 5 }, (_, at) => ({ id: `${at}` }));
    const chat = chatOf(long);
    const message = messageWith(attached(A, { endTurn: `${long.length - 1}` }));
    await attachedTranscripts(message, opening({ [A]: chat }));
    expect(chat.turnsBetween).toHaveBeenCalledWith(5, long.length);
    const large = chatOf([{ id: 'one', text: `${'a'.repeat(CHAT_TRANSCRIPT_MAX_CHARACTERS)}END` }]);
    const [first = '', second] = await attachedTranscripts(
      messageWith(attached(A, { endTurn: 'one' }), attached(A, { endTurn: 'one' })),
      opening({ [A]: large }),
    );
    expect(first).toMatch(/<transcript>\n\[…\]a+END\n/);
    expect(first.length).toBeLessThan(CHAT_TRANSCRIPT_MAX_CHARACTERS + 100);
    expect(second).toContain('<transcript>\n[…]\n</transcript>');
    const fits = chatOf([{ id: 'one', text: 'a'.repeat(CHAT_TRANSCRIPT_MAX_CHARACTERS - 'Person: '.length) }]);
    expect(
      (await attachedTranscripts(messageWith(attached(A, { endTurn: 'one' })), opening({ [A]: fits })))[0],
    ).not.toContain('[…]');
  });
});

describe('tool input by reference', () => {
  const references = new InputReferences({ inlineMaxCharacters: 10 });
  const place = { chat: A, turnId: 't', toolCallId: 'call' };
  const text = 'a long input';
  const call = (toolInput: unknown, toolCallId = 'call') => ({ kind: 'toolCall', toolCall: { toolCallId, toolInput } });

  it('[UP-250] is for text that is long, whole, and can be read in one answer', () => {
    expect([undefined, { a: 1 }, '1234567890', '12345678901'].map((input) => references.has(input as never))).toEqual([
      ...[false, false, false],
      true,
    ]);
    expect(references.has(`a long text \ud800`)).toBe(false);
    expect(references.has('x'.repeat(REFERENCED_INPUT_MAX_BYTES))).toBe(true);
    expect(references.has(`${'x'.repeat(REFERENCED_INPUT_MAX_BYTES)}x`)).toBe(false);
    expect(references.has('ü'.repeat(REFERENCED_INPUT_MAX_BYTES / 2 + 1))).toBe(false);
    expect(references.referTo({ ...place, text: 'short' })).toBeUndefined();
    expect(new InputReferences().inlineMaxCharacters).toBe(64 * 2 ** 10);
  });

  it('[UP-250] names the call and the text', () => {
    const reference = references.referTo({ ...place, text: `${text} ü` });
    expect(reference).toEqual({
      uri: expect.stringMatching(/^atrium-input:\/[\w-]+\/[0-9a-f]{64}$/),
      ...{ sizeHint: 15, contentType: 'text/plain' },
    });
    expect(namedInput(reference?.uri ?? '')).toMatchObject(place);
    const uriOf = (value: unknown) =>
      `atrium-input:/${Buffer.from(JSON.stringify(value)).toString('base64url')}/${'0'.repeat(64)}`;
    expect(namedInput(uriOf(['a', 'b', 'c']))).toMatchObject({ chat: 'a', turnId: 'b', toolCallId: 'c' });
    for (const uri of [
      uriOf(['a', 'b']),
      uriOf(['a', 1, 'c']),
      uriOf(5),
      'atrium-input:/x/y',
      '',
      `x${uriOf(['a', 'b', 'c'])}`,
    ])
      expect(namedInput(uri)).toBeUndefined();
  });

  it('[UP-250] is read from a turn that runs or is over, as long as it is the text that was named', async () => {
    const { uri = '' } = references.referTo({ ...place, text }) ?? {};
    const read = (chat: object | undefined, named = uri) =>
      inputReader({ openChat: async () => chat as Chat }).read(named);
    const found = { bytes: Buffer.from(text), contentType: 'text/plain' };
    const parts = [{ kind: 'markdown', content: '' }, call(text, 'other'), call('another text'), call(text)];
    expect(await read(chatOf([{ id: 's' }, { id: 't', parts }]))).toEqual(found);
    expect(await read(chatOf([], { activeTurn: { id: 't', responseParts: parts } }))).toEqual(found);
    expect(await read(chatOf([{ id: 't', parts: parts.slice(0, 3) }]))).toBeUndefined();
    expect(await read(chatOf([{ id: 's', parts }]))).toBeUndefined();
    expect([await read(undefined), await read(chatOf([{ id: 't', parts }]), 'atrium-input:/x')]).toEqual([
      undefined,
      undefined,
    ]);
  });
});

describe('workers', () => {
  const session = { uri: S, chats: [] as Chat[], state: { config: { values: {} } } };
  const chatAt = (uri: string) => session.chats.find((chat) => chat.uri === uri);
  function chat(uri: string, state: object = {}): Chat {
    return {
      uri,
      state,
      session: {
        ...session,
        get chats() {
          return session.chats;
        },
        chatAt,
      },
    } as unknown as Chat;
  }
  const tool = (parent: string) => ({ origin: { kind: 'tool', chat: parent, toolCallId: 'c' } });

  function setUp({
    parent = chat(A),
    chats = [parent] as Chat[],
    canShowChats = true,
    isActive = true,
    turn = {},
  } = {}) {
    session.chats = chats;
    const abort = new AbortController();
    let end: (turn: object | undefined) => void = () => {};
    const ended = new Promise<object | undefined>((resolve) => {
      end = resolve;
    });
    const [retries, failures] = [[] as [number, () => void][], [] as (() => void)[]];
    const opened = {
      ...{ uri: 'ahp-chat:/worker', isClosed: false, state: { activeTurn: { id: 'turn' } } },
      ...{ start: vi.fn(() => 'turn'), write: vi.fn(), closeAgent: vi.fn(), turnEnd: () => ended },
    };
    const workerChats = { open: vi.fn((..._args: unknown[]) => opened), remove: vi.fn(async () => {}) };
    const taken = new Set<string>();
    const options = {
      ...{
        workerChats,
        catalogue: { chats: taken },
        watchers: { canShowChats: () => canShowChats },
        logger: silentLogger,
      },
      writer: { afterFailure: (run: () => void) => failures.push(run) },
      clock: { after: (ms: number, run: () => void) => retries.push([ms, run]) },
    };
    // As that of a real turn, which any number of workers may wait for.
    setMaxListeners(0, abort.signal);
    const runner = { chat: parent, signal: abort.signal, isActive, startedBy: { clientId: 'c' }, ...turn };
    const workers = new TurnWorkers(runner as unknown as TurnRunner, options as unknown as ChatOptions);
    const open = (start: Partial<WorkerStart> = {}) =>
      workers.open({ toolCallId: 'call', title: 'Look', prompt: 'Look there', ...start } as WorkerStart);
    return { open, opened, workerChats, taken, abort, end, retries, failures };
  }

  it('[UP-078] have a chat with the call in its origin, and begin with their task, as the turn is set', () => {
    const model = { id: 'm' };
    const { open, opened, workerChats } = setUp({ turn: { model, agent: { uri: 'a' } } });
    const run = vi.fn();
    expect(open({ tools: ['read'], run } as never).chat).toBe(opened.uri);
    const uri = workerChatUri(S, 'call');
    expect(workerChats.open.mock.calls[0]?.slice(1)).toEqual([
      { uri, origin: { kind: 'tool', chat: A, toolCallId: 'call' }, title: 'Look' },
      { worker: { agent: { runTurn: run, close: expect.any(Function) }, tools: new Set(['read']) } },
    ]);
    const message = { text: 'Look there', origin: { kind: 'agent' }, model, agent: { uri: 'a' } };
    expect(opened.start.mock.calls).toEqual([[message, { clientId: 'c' }]]);
    const plain = setUp();
    plain.open();
    expect(plain.opened.start).toHaveBeenCalledWith(
      { text: 'Look there', origin: { kind: 'agent' } },
      { clientId: 'c' },
    );
    expect(plain.workerChats.open.mock.calls[0]?.[2]).toEqual({ worker: {} });
  });

  it('[UP-078] get another name where theirs is taken', () => {
    const { open, workerChats, taken } = setUp();
    const uri = workerChatUri(S, 'call');
    taken.add(uri).add(`${uri}~2`);
    open();
    expect(workerChats.open.mock.calls[0]?.[1]).toMatchObject({ uri: `${uri}~3` });
  });

  it('are not started by a turn that is over, or whose end is decided', () => {
    const over = setUp();
    over.abort.abort(new Error('cancelled'));
    expect(() => over.open()).toThrow('cancelled');
    expect(() => setUp({ isActive: false }).open()).toThrow();
  });

  it.each<[string, () => ReturnType<typeof setUp>, string | undefined]>([
    ['a worker', () => setUp({ parent: chat(B, tool(A)), chats: [chat(A), chat(B, tool(A))] }), undefined],
    [
      'a worker of a worker',
      () => setUp({ parent: chat('ahp-chat:/c', tool(B)), chats: [chat(A), chat(B, tool(A))] }),
      'TOO_DEEP',
    ],
    ['a worker whose parent is gone', () => setUp({ parent: chat('ahp-chat:/c', tool('ahp-chat:/x')) }), undefined],
    ['people who cannot see chats', () => setUp({ canShowChats: false }), 'UNSEEN'],
    [
      `${WORKERS_AT_ONCE_MAX} that run`,
      () => setUp({ chats: Array(WORKERS_AT_ONCE_MAX).fill(chat(B, { ...tool(A), activeTurn: {} })) }),
      'TOO_MANY',
    ],
    [
      `${WORKERS_AT_ONCE_MAX} of which one is over`,
      () =>
        setUp({
          chats: [chat(B, tool(A)), ...Array(WORKERS_AT_ONCE_MAX - 1).fill(chat(B, { ...tool(A), activeTurn: {} }))],
        }),
      undefined,
    ],
    [
      `${WORKERS_AT_ONCE_MAX} chats that people write in`,
      () => setUp({ chats: Array(WORKERS_AT_ONCE_MAX).fill(chat(B, { activeTurn: {} })) }),
      undefined,
    ],
    [
      `${SESSION_CHATS_MAX} chats of people`,
      () => setUp({ chats: Array(SESSION_CHATS_MAX).fill(chat(A)) }),
      'TOO_MANY',
    ],
  ])('[REL-098] with %s', (_, make, code) => {
    const { open } = make();
    if (code === undefined) expect(open().chat).toBe('ahp-chat:/worker');
    else expect(() => open()).toThrow(expect.objectContaining({ code }));
  });

  it('need nobody who sees them where nothing is asked', () => {
    session.state = { config: { values: { autoApprove: true } } };
    expect(setUp({ canShowChats: false }).open().chat).toBe('ahp-chat:/worker');
    session.state = { config: { values: {} } };
  });

  it(`[REL-098] are ${TURN_WORKERS_MAX} for a turn, and the oldest that is over makes room in its session`, () => {
    const many = setUp();
    for (let count = 0; count < TURN_WORKERS_MAX; count += 1) many.open();
    expect(() => many.open()).toThrow(`${TURN_WORKERS_MAX} workers already`);
    expect(many.workerChats.remove).not.toHaveBeenCalled();
    const [running, done, later] = [
      chat('ahp-chat:/1', { ...tool(A), activeTurn: {} }),
      chat(B, tool(A)),
      chat('ahp-chat:/3', tool(A)),
    ];
    const { open, workerChats } = setUp({
      chats: [...Array(SESSION_CHATS_MAX - 3).fill(chat(A)), running, done, later],
    });
    open();
    expect(workerChats.remove.mock.calls).toMatchObject([[{ uri: S }, { uri: B }]]);
  });

  it('[UP-078] end with what they said last, and their agent is closed', async () => {
    const outcome = async (turn: object | undefined) => {
      const { open, opened, end } = setUp();
      const { ended } = open();
      end(turn);
      const result = await ended;
      expect([opened.closeAgent.mock.calls.length, opened.write.mock.calls.length]).toEqual([1, 0]);
      return result;
    };
    const said = (content: string) => ({ kind: 'markdown', content });
    const call = { kind: 'toolCall' };
    const turn = (...responseParts: object[]) => ({ state: 'complete', responseParts });
    const done = { chat: 'ahp-chat:/worker', state: 'complete' };
    expect(await outcome(turn(said('one'), call, said('two'), said(''), said('three')))).toEqual({
      ...done,
      text: 'two\n\nthree',
    });
    expect(await outcome(turn(said('one'), { kind: 'inputRequest' }, said('')))).toEqual({ ...done, text: 'one' });
    const failed = { kind: 'error', error: { message: 'broken' } };
    expect(await outcome({ ...turn(said('one'), failed), state: 'error' })).toEqual({
      ...{ chat: done.chat, state: 'error', text: 'one', error: 'broken' },
    });
    expect(await outcome(undefined)).toEqual({ chat: done.chat, state: 'cancelled', text: '' });
  });

  it('[UP-078] are cancelled with their call, or their turn, until that is stored', async () => {
    const call = new AbortController();
    const cancelled = { type: 'chat/turnCancelled', turnId: 'turn', duration: 0 };
    const { open, opened, end, failures, retries, abort } = setUp();
    const { ended } = open({ signal: call.signal });
    call.abort();
    expect(opened.write.mock.calls).toEqual([[cancelled]]);
    failures[0]?.();
    expect(retries[0]?.[0]).toBe(STORE_RETRY_MS);
    retries[0]?.[1]();
    expect(opened.write).toHaveBeenCalledTimes(2);
    Object.assign(opened, { state: {} });
    retries[0]?.[1]();
    expect(opened.write).toHaveBeenCalledTimes(2);
    end(undefined);
    await ended;
    abort.abort();
    expect(opened.write).toHaveBeenCalledTimes(2);

    const turn = setUp();
    turn.open();
    turn.abort.abort();
    expect(turn.opened.write.mock.calls).toEqual([[cancelled]]);
    const closed = setUp();
    Object.assign(closed.opened, { isClosed: true });
    closed.open();
    closed.abort.abort();
    expect(closed.opened.write).not.toHaveBeenCalled();
    const late = setUp();
    late.open({ signal: AbortSignal.abort() });
    expect(late.opened.write.mock.calls).toEqual([[cancelled]]);
  });
});
