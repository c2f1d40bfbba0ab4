/** How chats come into a session, and how they go, without a host around them. */
import {
  type ChatState,
  type CreateChatParams,
  defaultChatUri,
  sideContextUri,
  type Turn,
  workerChatUri,
} from '@atrium/protocol/ahp-1';
import { describe, expect, it, vi } from 'vitest';
import { DirectDelivery } from '../../src/channels/delivery.js';
import { Writer } from '../../src/channels/writer.js';
import { MemoryLog } from '../../src/log/memory-log.js';
import type { Chat } from '../../src/sessions/chat.js';
import { ChatCreation, type ChatCreationOptions } from '../../src/sessions/chat-creation.js';
import { ChatIndex } from '../../src/sessions/chat-index.js';
import {
  CHAT_URI_MAX_CHARACTERS,
  CHOICE_MAX_CHARACTERS,
  SESSION_CHATS_MAX,
  TITLE_MAX_CHARACTERS,
  TURNS_IN_MEMORY,
} from '../../src/sessions/limits.js';
import type { NewChat, Session } from '../../src/sessions/session.js';
import { silentLogger } from '../../src/util/logger.js';

const S = 'ahp-session:/s';
const NEW = 'ahp-chat:/new';
const MAIN = defaultChatUri(S);

interface Setting {
  readonly multipleChats?: object | null;
  readonly lifecycle?: string;
  /** How many turns the default chat has. */
  readonly turns?: number;
  readonly main?: object;
}

function setUp({
  multipleChats = { fork: true, sideChat: true },
  lifecycle = 'ready',
  turns = 0,
  main = {},
}: Setting = {}) {
  const log = new MemoryLog();
  const nothing = () => {};
  const clock = { now: () => 5_000, after: () => nothing };
  const delivery = new DirectDelivery({ shown: 0, logger: silentLogger, show: nothing });
  const writer = new Writer({ log, clock, logger: silentLogger, delivery, undone: nothing, superseded: nothing });
  const index = new ChatIndex(log, writer);
  const adopted: NewChat[] = [];
  const started: object[] = [];
  const watchers = { unsubscribeAll: vi.fn() };
  const records = { forget: vi.fn(), unfinished: vi.fn(async () => [] as object[]) };
  const session = {
    ...{ uri: S, chats: [] as Chat[] },
    state: { lifecycle, title: 'Session', workingDirectories: ['file:///a', 'file:///b'], activeClients: [] },
    backend: { info: { provider: 'p', models: [], capabilities: { ...(multipleChats && { multipleChats }) } } },
    unknownModel: (model?: { id: string }) => (model ? `no model ${model.id}` : undefined),
    chatAt: (uri: string) => session.chats.find((chat) => chat.uri === uri),
    adopt: (made: NewChat) => {
      adopted.push(made);
      return { uri: made.channel.uri, start: (message: object) => started.push(message) };
    },
    drop: vi.fn(),
    storeArchive: vi.fn(),
  };
  const finished = Array.from(
    { length: turns },
    (_, at) => ({ id: `t${at}`, message: { text: 'x' } }) as unknown as Turn,
  );
  const chat = (uri: string, state: object = {}) =>
    ({
      ...{ uri, session, state: { title: 'Main', turns: [], ...state }, committed: { turns: finished } },
      indexOfTurn: async (id: string) => {
        const found = finished.findIndex((turn) => turn.id === id);
        return found < 0 ? undefined : found;
      },
      ...{ turnCount: async () => turns, showTurn: vi.fn(), gone: vi.fn(), close: vi.fn(async () => {}) },
    }) as unknown as Chat;
  const first = chat(MAIN, main);
  session.chats.push(first);
  Object.assign(session, { chat: first });
  const memory = { open: vi.fn(async (uri: string) => (uri === S ? (session as unknown as Session) : undefined)) };
  const options = {
    log,
    writer,
    clock,
    watchers,
    records,
    memory,
    catalogue: { chats: index },
    open: async () => undefined,
  };
  const chats = new ChatCreation(options as unknown as ChatCreationOptions);
  const create = (params: object = {}) => chats.create({ channel: S, chat: NEW, ...params } as CreateChatParams);
  const state = () => adopted.at(-1)?.channel.live as ChatState;
  const store = async (uri: string) => {
    const items = finished.map((turn) => ({ id: turn.id, json: JSON.stringify(turn) }));
    const archives = [{ channel: uri, head: '{}', turns: { start: 0, items } }];
    await log.append({ entries: [], archives, durability: 'normal' });
  };
  return {
    log,
    writer,
    index,
    session,
    chat,
    chats,
    create,
    adopted,
    started,
    state,
    watchers,
    records,
    memory,
    store,
  };
}

const fork = (turnId = 't0') => ({ kind: 'fork', chat: MAIN, turnId });
const side = (more: object = {}) => ({ kind: 'sideChat', chat: MAIN, turnId: 't0', ...more });

const hello = { text: 'x', origin: { kind: 'user' } };

describe('a chat that is created', () => {
  it('[UP-039] is in its session, with a title, and begins with its message', async () => {
    const { create, state, index, adopted, started } = setUp();
    await create();
    expect(state()).toEqual({
      ...{ resource: NEW, title: 'Chat 2', status: 1, modifiedAt: new Date(5_000).toISOString() },
      ...{ origin: { kind: 'user' }, turns: [] },
    });
    expect([index.sessionUriOf(NEW), adopted[0]?.channel.timeAt(0), started]).toEqual([S, 5_000, []]);
    const message = { text: '  Look \n there ', origin: { kind: 'user' } };
    const other = setUp();
    await other.create({ initialMessage: message, workingDirectories: ['file:///b'] });
    expect([other.state().title, other.state().workingDirectories]).toEqual(['Look there', ['file:///b']]);
    expect(other.started).toEqual([message]);
    const long = setUp();
    await long.create({ initialMessage: { ...message, text: 'x'.repeat(TITLE_MAX_CHARACTERS + 1) } });
    expect(long.state().title).toBe(`${'x'.repeat(TITLE_MAX_CHARACTERS - 1)}…`);
    const blank = setUp({ turns: 1 });
    await blank.store(MAIN);
    await blank.create({ initialMessage: { ...message, text: ' \n' }, source: side({ selection: { text: 'words' } }) });
    expect(blank.state().title).toBe('Chat 2');
  });

  it.each<[string, Setting, object, string]>([
    ['the URI is too long', {}, { chat: `ahp-chat:/${'x'.repeat(CHAT_URI_MAX_CHARACTERS - 9)}` }, '/chat may have'],
    ['the URI is no chat', {}, { chat: 'ahp-session:/x' }, '/chat must be the URI of a chat'],
    ["the URI is the host's", {}, { chat: workerChatUri(S, 'w') }, '/chat: names of this form'],
    ['there is no session', {}, { channel: 'ahp-session:/x' }, 'there is no session ahp-session:/x'],
    ['the session failed', { lifecycle: 'failed' }, {}, '/channel: the session could not be created'],
    ['the agent has one chat', { multipleChats: null }, {}, 'has one chat only'],
    ['it is its own source', {}, { source: { ...fork(), chat: NEW } }, '/source/chat: a chat cannot be its own source'],
    ['the agent does not fork', { multipleChats: { sideChat: true } }, { source: fork() }, 'does not offer fork'],
    [
      'nothing is selected',
      {},
      { source: side({ selection: { text: '' } }) },
      '/source/selection/text must not be empty',
    ],
    [
      'the source is too long',
      {},
      { source: side({ selection: { text: 'x'.repeat(CHOICE_MAX_CHARACTERS) } }) },
      '/source may have',
    ],
    ['a folder is foreign', {}, { workingDirectories: ['file:///a', 'file:///c'] }, 'file:///c is not a folder'],
    [
      'the source is unknown',
      {},
      { source: { ...fork(), chat: 'ahp-chat:/x' } },
      '/source/chat: ahp-chat:/x is not a chat',
    ],
    ['the turn is unknown', { turns: 1 }, { source: fork('t9') }, `/source/turnId: ${MAIN} has no turn t9`],
    [
      'the turn runs',
      { main: { activeTurn: { id: 't9' } } },
      { source: fork('t9') },
      'still running: fork a completed one',
    ],
    ['the model is unknown', {}, { initialMessage: { ...hello, model: { id: 'm' } } }, '/initialMessage: no model m'],
    [
      'a client speaks as an agent',
      {},
      { initialMessage: { ...hello, origin: { kind: 'agent' } } },
      '/initialMessage: a client can only',
    ],
    [
      'an attached chat is unknown',
      {},
      { initialMessage: { ...hello, attachments: [{ type: 'chat', resource: 'ahp-chat:/x', label: '' }] } },
      '/initialMessage/attachments: there is no chat',
    ],
  ])('[UP-039] is refused when %s', async (_, setting, params, expected) => {
    const { create, adopted, index } = setUp(setting);
    await expect(create(params)).rejects.toThrow(expected);
    expect([adopted, index.has(NEW)]).toEqual([[], false]);
  });

  it('[UP-039] may have a long name, a long source, and any folder of what it is forked from', async () => {
    const { create, adopted, store, state } = setUp({ turns: 1, main: { workingDirectories: ['file:///b'] } });
    await store(MAIN);
    const chat = `ahp-chat:/${'x'.repeat(CHAT_URI_MAX_CHARACTERS - 10)}`;
    expect(chat).toHaveLength(CHAT_URI_MAX_CHARACTERS);
    await create({ chat, source: fork(), workingDirectories: ['file:///c'] });
    expect(state()).toMatchObject({ resource: chat, workingDirectories: ['file:///b'] });
    const rest = JSON.stringify(side({ selection: { text: '' } })).length;
    await create({ source: side({ selection: { text: 'x'.repeat(CHOICE_MAX_CHARACTERS - rest) } }) });
    expect(adopted).toHaveLength(2);
  });

  it(`[REL-098] is one of ${SESSION_CHATS_MAX} in its session`, async () => {
    const { create, session, chat } = setUp();
    while (session.chats.length < SESSION_CHATS_MAX - 1) session.chats.push(chat(`ahp-chat:/${session.chats.length}`));
    await create();
    session.chats.push(chat(NEW));
    await expect(create({ chat: 'ahp-chat:/more' })).rejects.toThrow(`${SESSION_CHATS_MAX} chats at most`);
  });

  it('[UP-039] is created once, however often it is asked for; another under its name is refused', async () => {
    const { create, adopted, index } = setUp();
    const same = { workingDirectories: ['file:///a'] };
    await Promise.all([create(same), create(same)]);
    await create(same);
    expect(adopted).toHaveLength(1);
    for (const other of [{}, { workingDirectories: ['file:///b'] }, { ...same, initialMessage: { text: 'x' } }])
      await expect(create(other)).rejects.toThrow(`${NEW} is in use`);
    index.set('ahp-chat:/theirs', 'ahp-session:/other');
    index.reserve('ahp-chat:/loose', 'ahp-session:/other');
    for (const chat of ['ahp-chat:/theirs', 'ahp-chat:/loose'])
      await expect(create({ chat })).rejects.toThrow(`${chat} is in use`);
  });
});

describe('a chat that branches off', () => {
  it('[UP-039] as a fork has the turns up to the one that is named, the newest of them in memory', async () => {
    const { create, store, state, adopted, session, log } = setUp({ turns: TURNS_IN_MEMORY + 5 });
    await store(MAIN);
    await create({ source: fork(`t${TURNS_IN_MEMORY + 1}`) });
    expect(session.storeArchive).toHaveBeenCalledWith([session.chats[0]]);
    expect(state()).toMatchObject({ title: 'Main (fork)', origin: fork(`t${TURNS_IN_MEMORY + 1}`) });
    expect(state().turns.map(({ id }) => id)).toEqual(Array.from({ length: TURNS_IN_MEMORY }, (_, at) => `t${at + 2}`));
    expect([adopted[0]?.pages.base, adopted[0]?.pages.archiveOf(state()).turns]).toEqual([
      2,
      { start: TURNS_IN_MEMORY + 2, items: [] },
    ]);
    expect((await log.archivedTurns(NEW, { start: 0, end: 99 })).length).toBe(TURNS_IN_MEMORY + 2);
    const untitled = setUp({ turns: 1, main: { title: '' } });
    await untitled.store(MAIN);
    await untitled.create({ source: fork() });
    expect(untitled.state().title).toBe('Session (fork)');
  });

  it('[UP-039] beside another is empty, and its agent knows the turns, also of one that runs', async () => {
    const { create, store, state, log } = setUp({ turns: 3 });
    await store(MAIN);
    await create({ source: side({ turnId: 't1', selection: { text: ' these  words ' } }) });
    expect(state()).toMatchObject({ title: 'these words', turns: [], origin: { kind: 'sideChat' } });
    const known = async (of: MemoryLog) =>
      (await of.archivedTurns(sideContextUri(NEW), { start: 0, end: 9 })).map(({ json }) => JSON.parse(json));
    expect((await known(log)).map(({ id }) => id)).toEqual(['t0', 't1']);
    const activeTurn = { id: 'now', startedAt: 'then', message: { text: 'm' }, responseParts: [], more: 1 };
    const running = setUp({ turns: 1, main: { activeTurn } });
    await running.store(MAIN);
    await running.create({ source: side({ turnId: 'now' }) });
    const { more: _more, ...turn } = activeTurn;
    expect((await known(running.log)).slice(1)).toEqual([{ ...turn, state: 'cancelled' }]);
    expect(await running.log.archiveHead(NEW)).toBeUndefined();
  });

  it('[UP-039] fails when the turn is cut off while it is copied, and what was copied belongs to no session', async () => {
    const lost = setUp({ turns: 2 });
    await expect(lost.create({ source: fork('t1') })).rejects.toThrow('/source/turnId: turn t1 was cut off meanwhile');
    expect([lost.index.loose(), lost.adopted]).toEqual([[[NEW, S]], []]);
    const cut = setUp({ turns: 2 });
    await cut.store(MAIN);
    vi.spyOn(cut.log, 'findTurn').mockResolvedValue(0);
    await expect(cut.create({ source: fork('t1') })).rejects.toThrow('was cut off meanwhile');
    vi.restoreAllMocks();
    await cut.create({ source: fork('t0') });
    expect(cut.state().turns.map(({ id }) => id)).toEqual(['t0']);
    expect((await cut.log.archivedTurns(NEW, { start: 0, end: 9 })).length).toBe(1);
  });

  it('[UP-039] is not created in a session that was full, or gone, by then', async () => {
    const { create, store, session, chat, adopted, memory } = setUp({ turns: 1 });
    await store(MAIN);
    session.storeArchive.mockImplementation(() => {
      while (session.chats.length < SESSION_CHATS_MAX) session.chats.push(chat('ahp-chat:/other'));
    });
    await expect(create({ source: fork() })).rejects.toThrow('chats at most');
    session.storeArchive.mockImplementation(() => memory.open.mockResolvedValue(undefined));
    session.chats.length = 1;
    await expect(create({ source: fork() })).rejects.toThrow('there is no session');
    expect(adopted).toEqual([]);
  });
});

describe('a chat that goes', () => {
  const worker = (parent: string) => ({ origin: { kind: 'tool', chat: parent, toolCallId: 'c' } });

  it('[UP-044] takes the workers of its tools along, and everything that is stored of it', async () => {
    const { chats, index, session, chat, watchers, records, log, store, writer } = setUp({ turns: 1 });
    const all = [
      chat(NEW),
      chat('ahp-chat:/w1', worker(NEW)),
      chat('ahp-chat:/w2', worker('ahp-chat:/w1')),
      chat('ahp-chat:/other', worker(MAIN)),
    ];
    session.chats.push(...all);
    for (const { uri } of all) index.set(uri, S);
    for (const uri of [NEW, sideContextUri(NEW)]) await store(uri);
    await writer.settled();
    await chats.dispose(NEW);
    const gone = ['ahp-chat:/w2', 'ahp-chat:/w1', NEW];
    expect(session.drop.mock.calls.map(([each]) => each.uri)).toEqual(gone);
    expect(watchers.unsubscribeAll.mock.calls.map(([uri]) => uri)).toEqual(gone);
    expect(records.forget.mock.calls.map(([uri]) => uri)).toEqual(gone);
    expect([index.storedFor(S), await log.archiveHead(NEW), await log.archiveHead(sideContextUri(NEW))]).toEqual([
      ['ahp-chat:/other'],
      ...[undefined, undefined],
    ]);
    for (const each of all.slice(0, 3))
      expect([each.gone, each.close].map((call) => vi.mocked(call).mock.calls.length)).toEqual([1, 1]);
    expect(all[3]?.gone).not.toHaveBeenCalled();
  });

  it('[UP-044] is one that is there, and not the default one', async () => {
    const { chats, index } = setUp();
    await expect(chats.dispose(NEW)).rejects.toThrow(`there is no chat ${NEW}`);
    index.set(NEW, S);
    await expect(chats.dispose(NEW)).rejects.toThrow(`there is no chat ${NEW}`);
    await expect(chats.dispose(MAIN)).rejects.toThrow('/channel: the default chat');
  });

  it('[UP-039] and was never finished is forgotten after a crash, unless its session is still coming', async () => {
    const { chats, index, records, store, log } = setUp({ turns: 1 });
    index.reserve('ahp-chat:/left', S);
    index.reserve('ahp-chat:/coming', 'ahp-session:/coming');
    index.set(NEW, S);
    for (const uri of ['ahp-chat:/left', 'ahp-chat:/coming', NEW]) await store(uri);
    records.unfinished.mockResolvedValue([{ uri: 'ahp-session:/coming' }]);
    await chats.purge();
    expect(index.loose()).toEqual([['ahp-chat:/coming', 'ahp-session:/coming']]);
    expect(await log.archiveHead('ahp-chat:/left')).toBeUndefined();
    expect(await log.archiveHead(NEW)).toBeDefined();
  });

  it('[UP-078] or is opened for a worker can be read by people, and has a short title', () => {
    const { chats, session, state, index, adopted } = setUp();
    const origin = { kind: 'tool', chat: MAIN, toolCallId: 'c' } as never;
    const uri = workerChatUri(S, 'c');
    const parts = { worker: {} } as never;
    chats.worker(session as unknown as Session, { uri, origin, title: 'x'.repeat(TITLE_MAX_CHARACTERS + 1) }, parts);
    expect(state()).toMatchObject({ resource: uri, origin, interactivity: 'read-only', turns: [] });
    expect([state().title.length, index.sessionUriOf(uri), adopted[0]]).toMatchObject([
      TITLE_MAX_CHARACTERS,
      S,
      { worker: {} },
    ]);
  });
});
