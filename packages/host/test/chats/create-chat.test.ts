/** Chats that people open in a session beside its default one. */
import { CHAT_URI_MAX_CHARACTERS, MESSAGE_CHATS_MAX, SESSION_CHATS_MAX } from '@atrium/core/sessions/limits.js';
import type { SessionState, SessionSummary } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { chatsOf, openChats, said } from '../support/chat-fixture.js';
import { KeptLog } from '../support/logs.js';
import {
  chatState,
  nativeClient,
  nativeSession,
  nativeTurn,
  sessionState,
  userMessage,
} from '../support/native-client.js';
import { refusalOf, startHost } from '../support/session-fixture.js';
import { ROOT, settle } from '../support/test-host.js';

describe('createChat', () => {
  it('[UP-041] [UP-017] lists the chat before it answers, and finds its session by it', async () => {
    const { client, uri, chat } = await openChats();
    expect(await client.request('createChat', { channel: uri, chat: 'ahp-chat:/two' })).toBe(null);
    expect(client.types(uri)).toContain('session/chatAdded');
    expect(await chatsOf(client, uri)).toEqual([chat, 'ahp-chat:/two']);
    const state = await chatState(client, 'ahp-chat:/two');
    expect(state).toMatchObject({ resource: 'ahp-chat:/two', title: 'Chat 2', origin: { kind: 'user' }, turns: [] });
    await nativeTurn(client, 'ahp-chat:/two', 'hello');
    expect(said(await chatState(client, chat))).toEqual([]);
    expect(said(await chatState(client, 'ahp-chat:/two'))).toEqual(['hello']);
  });

  it('[UP-039] starts its first turn at once with an initial message', async () => {
    const { client, open } = await openChats();
    const two = await open('two', { initialMessage: userMessage('hello') });
    await client.until(() => true);
    await settle(20);
    const state = await chatState(client, two);
    expect(state.title).toBe('hello');
    expect(said(state)).toEqual(['hello']);
  });

  it('[UP-042] refuses a first message as it would refuse any other, and creates nothing', async () => {
    const { client, uri, chat } = await openChats();
    const initialMessage = { text: 'x', origin: { kind: 'agent' } };
    const { error } = await client.ask('createChat', { channel: uri, chat: 'ahp-chat:/two', initialMessage });
    expect([error?.code, error?.message]).toEqual([-32602, expect.stringContaining('origin user')]);
    expect(await chatsOf(client, uri)).toEqual([chat]);
  });

  it('[UP-041] answers a request that comes again, and carries it out once', async () => {
    const { client, uri, open } = await openChats();
    const params = { channel: uri, chat: 'ahp-chat:/two', initialMessage: userMessage('hello') };
    await Promise.all([client.request('createChat', params), client.request('createChat', params)]);
    await settle(20);
    expect(await client.request('createChat', params)).toBe(null);
    expect(said(await chatState(client, params.chat))).toEqual(['hello']);
    expect((await client.ask('createChat', { ...params, initialMessage: userMessage('other') })).error?.code).toBe(
      -32010,
    );
    const { uri: other } = await nativeSession(client);
    expect((await client.ask('createChat', { ...params, channel: other })).error?.code).toBe(-32010);
    await open('three');
  });

  it('[UP-041] carries a request out once that two clients send at once', async () => {
    const { client, host, uri, chat } = await openChats();
    const other = await nativeClient(host, 'laptop');
    const { uri: elsewhere } = await nativeSession(other);
    const params = { channel: uri, chat: 'ahp-chat:/two', initialMessage: userMessage('hello') };
    await Promise.all([client.request('createChat', params), other.request('createChat', params)]);
    await settle(20);
    expect(await chatsOf(client, uri)).toEqual([chat, 'ahp-chat:/two']);
    expect(said(await chatState(client, params.chat))).toEqual(['hello']);
    const answers = await Promise.all([
      client.ask('createChat', { channel: uri, chat: 'ahp-chat:/three' }),
      other.ask('createChat', { channel: elsewhere, chat: 'ahp-chat:/three' }),
    ]);
    expect(answers.map(({ error }) => error?.code).sort()).toEqual([-32010, undefined]);
  });

  it('[UP-042] [UP-040] [UP-044] refuses names, folders and sources that cannot be', async () => {
    const { client, uri, chat } = await openChats();
    await nativeTurn(client, chat, 'hello', 't1');
    const { uri: other, chat: foreign } = await nativeSession(client);
    await nativeTurn(client, foreign, 'hello', 't1');
    const code = async (params: object) =>
      (await client.ask('createChat', { channel: uri, chat: 'ahp-chat:/new', ...params })).error?.code;
    expect(await code({ chat: 'ahp-session:/new' })).toBe(-32602);
    expect(await code({ chat: `ahp-chat:/${'x'.repeat(CHAT_URI_MAX_CHARACTERS)}` })).toBe(-32602);
    for (const taken of ['default', 'subagent', 'context'])
      expect(await code({ chat: `ahp-chat://${taken}/x` })).toBe(-32602);
    expect(await code({ channel: 'ahp-session:/none' })).toBe(-32001);
    expect(await code({ workingDirectories: ['file:///elsewhere'] })).toBe(-32602);
    const fork = (source: object) => code({ source: { kind: 'fork', chat, turnId: 't1', ...source } });
    expect(await fork({ turnId: 'none' })).toBe(-32008);
    expect(await fork({ chat: 'ahp-chat:/none' })).toBe(-32008);
    expect(await fork({ chat: foreign })).toBe(-32008);
    expect(await fork({ chat: 'ahp-chat:/new' })).toBe(-32602);
    expect(await fork({ kind: 'sideChat', selection: { text: '' } })).toBe(-32602);
    expect(await chatsOf(client, uri)).toEqual([chat]);
    expect(await chatsOf(client, other)).toEqual([foreign]);
  });

  it('[UP-039] [UP-042] opens as many chats as a session may have, and no more', async () => {
    const { client, uri, open } = await openChats();
    for (let count = 2; count <= SESSION_CHATS_MAX; count++) {
      await client.request('createChat', { channel: uri, chat: `ahp-chat:/${count}` });
    }
    expect((await client.ask('createChat', { channel: uri, chat: 'ahp-chat:/more' })).error?.code).toBe(-32602);
    await client.request('disposeChat', { channel: 'ahp-chat:/2' });
    await open('more');
    expect(await chatsOf(client, uri)).toHaveLength(SESSION_CHATS_MAX);
  });

  it('[UP-206] [UP-066] can be subscribed to without its session, and acted on without a subscription', async () => {
    const { host, open, uri } = await openChats();
    const two = await open('two');
    const phone = await nativeClient(host, 'phone', { initialSubscriptions: [two] });
    await nativeTurn(phone, two, 'hello');
    expect(phone.envelopes(uri)).toEqual([]);
    const tablet = await nativeClient(host, 'tablet', { initialSubscriptions: [] });
    tablet.dispatch(two, { type: 'chat/turnStarted', turnId: 'x', message: userMessage('again') } as never);
    await phone.action(two, ({ type, turnId }) => type === 'chat/turnComplete' && turnId === 'x');
  });
});

describe('a chat that begins as a copy', () => {
  it('[UP-039] has the turns up to and including a completed one, and goes its own way', async () => {
    const { client, uri, chat, open } = await openChats();
    for (const id of ['t1', 't2', 't3']) await nativeTurn(client, chat, `message ${id}`, id);
    const fork = await open('fork', { source: { kind: 'fork', chat, turnId: 't2' } });
    const [source, copy] = [await chatState(client, chat), await chatState(client, fork)];
    expect(copy.turns).toEqual(source.turns.slice(0, 2));
    expect(copy.origin).toEqual({ kind: 'fork', chat, turnId: 't2' });
    expect(copy.title).toBe(`${(await sessionState(client, uri)).title} (fork)`);
    await nativeTurn(client, fork, 'only here', 'f1');
    client.dispatch(chat, { type: 'chat/truncated' });
    await client.action(chat, 'chat/truncated');
    expect(said(await chatState(client, fork))).toEqual(['message t1', 'message t2', 'only here']);
    expect(said(await chatState(client, chat))).toEqual([]);
  });

  it('[UP-042] does not begin in the middle of a turn', async () => {
    const { client, chat, uri, agent } = await openChats({ session: { provider: 'puppet' } });
    client.dispatch(chat, { type: 'chat/turnStarted', turnId: 't1', message: userMessage('go') } as never);
    await agent.turn(0);
    const source = { kind: 'fork', chat, turnId: 't1' };
    expect((await client.ask('createChat', { channel: uri, chat: 'ahp-chat:/f', source })).error?.code).toBe(-32602);
  });

  it('[UP-039] tells its agent what was said before', async () => {
    const { client, chat, agent, open } = await openChats({ session: { provider: 'puppet' } });
    client.dispatch(chat, { type: 'chat/turnStarted', turnId: 't1', message: userMessage('first') } as never);
    (await agent.turn(0)).finish();
    await client.action(chat, 'chat/turnComplete');
    const fork = await open('fork', {
      source: { kind: 'fork', chat, turnId: 't1' },
      initialMessage: userMessage('second'),
    });
    await agent.turn(1);
    expect(agent.openings.at(-1)).toMatchObject({ chat: fork });
    expect((await agent.history(10)).map(({ message }) => message.text)).toEqual(['first']);
  });

  it('[UP-039] copies a history that is longer than memory', async () => {
    const { client, chat, open } = await openChats();
    for (let count = 1; count <= 120; count++) await nativeTurn(client, chat, `m${count}`, `t${count}`);
    const fork = await open('fork', { source: { kind: 'fork', chat, turnId: 't110' } });
    const copy = await chatState(client, fork);
    expect(copy.turns.map(({ id }) => id)).toEqual(Array.from({ length: 110 }, (_, index) => `t${index + 1}`));
    await nativeTurn(client, fork, 'more', 'more');
    client.dispatch(fork, { type: 'chat/truncated', turnId: 't5' } as never);
    await client.action(fork, 'chat/truncated');
    expect((await chatState(client, fork)).turns).toHaveLength(5);
    expect((await chatState(client, chat)).turns).toHaveLength(120);
  });
});

describe('a side chat', () => {
  const selection = { text: 'these words', responsePartId: 'p1' };

  it('[UP-039] shows nothing of the chat beside it, and its agent knows that up to the turn', async () => {
    const { client, chat, agent, open } = await openChats({ session: { provider: 'puppet' } });
    for (const [index, id] of ['t1', 't2', 't3'].entries()) {
      client.dispatch(chat, { type: 'chat/turnStarted', turnId: id, message: userMessage(id) } as never);
      (await agent.turn(index)).finish();
      await client.action(chat, ({ type, turnId }) => type === 'chat/turnComplete' && turnId === id);
    }
    const side = await open('side', { source: { kind: 'sideChat', chat, turnId: 't2', selection } });
    const state = await chatState(client, side);
    expect(state).toMatchObject({ turns: [], title: 'these words' });
    expect(state.origin).toEqual({ kind: 'sideChat', chat, turnId: 't2', selection });
    client.dispatch(side, { type: 'chat/turnStarted', turnId: 's1', message: userMessage('why?') } as never);
    const asked = await agent.turn(3);
    expect(asked.turn.context.join()).toContain('these words');
    expect((await agent.history(10)).map(({ id }) => id)).toEqual(['t1', 't2']);
    // What happens to the other chat afterwards changes nothing here.
    client.dispatch(chat, { type: 'chat/truncated' });
    await client.action(chat, 'chat/truncated');
    asked.finish();
    await client.action(side, 'chat/turnComplete');
    expect((await agent.history(10)).map(({ id }) => id)).toEqual(['t1', 't2', 's1']);
    expect((await agent.history(2)).map(({ id }) => id)).toEqual(['t2', 's1']);
  });

  it('[UP-039] may begin at the turn that is running', async () => {
    const { client, chat, agent, open } = await openChats({ session: { provider: 'puppet' } });
    client.dispatch(chat, { type: 'chat/turnStarted', turnId: 't1', message: userMessage('go') } as never);
    const running = await agent.turn(0);
    running.turn.text('half an answer');
    await client.action(chat, 'chat/delta');
    const side = await open('side', {
      source: { kind: 'sideChat', chat, turnId: 't1' },
      initialMessage: userMessage('?'),
    });
    await agent.turn(1);
    const [known] = await agent.history(10);
    expect(known).toMatchObject({ id: 't1', message: { text: 'go' }, responseParts: [{ content: 'half an answer' }] });
    running.finish();
    await client.action(chat, 'chat/turnComplete');
    expect((await chatState(client, side)).activeTurn).toBeDefined();
  });
});

describe('disposeChat', () => {
  it('[UP-044] [UP-023] removes the chat, stops its turn, and refuses the default one', async () => {
    const { client, uri, chat, agent, open, host } = await openChats({ session: { provider: 'puppet' } });
    const two = await open('two', { initialMessage: userMessage('go') });
    const { turn } = await agent.turn(0);
    expect(await client.request('disposeChat', { channel: two })).toBe(null);
    expect(turn.signal.aborted).toBe(true);
    const state = await sessionState(client, uri);
    expect(state.chats.map(({ resource }) => resource)).toEqual([chat]);
    expect(state).not.toHaveProperty('inputNeeded');
    expect((await client.ask('subscribe', { channel: two })).error?.code).toBe(-32008);
    expect((await client.ask('disposeChat', { channel: two })).error?.code).toBe(-32008);
    expect((await client.ask('disposeChat', { channel: chat })).error?.code).toBe(-32602);
    expect(await host.log.archiveHead(two)).toBe(undefined);
    expect(await host.log.records('chat:')).toEqual([]);
    const again = await open('two');
    expect((await chatState(client, again)).turns).toEqual([]);
  });

  it('[UP-166] a session that is disposed takes its chats with it, and brings them back', async () => {
    const { client, uri, open } = await openChats();
    const two = await open('two');
    await nativeTurn(client, two, 'hello');
    await client.request('disposeSession', { channel: uri });
    expect((await client.ask('subscribe', { channel: two })).error?.code).toBe(-32008);
    const { uri: other } = await nativeSession(client);
    expect((await client.ask('createChat', { channel: other, chat: two })).error?.code).toBe(-32010);
    await client.request('atrium/restoreSession', { channel: uri });
    expect(said(await chatState(client, two))).toEqual(['hello']);
  });
});

describe('chats of a session', () => {
  it('[UP-039] [UP-166] are all there after a restart, also for a client that knows only a chat', async () => {
    const { client, chat, uri, open, host, log } = await openChats({ log: new KeptLog() });
    await nativeTurn(client, chat, 'one', 't1');
    const two = await open('two');
    await nativeTurn(client, two, 'two');
    const fork = await open('fork', { source: { kind: 'fork', chat, turnId: 't1' } });
    await nativeTurn(client, fork, 'three');
    const states = async (from: typeof client) =>
      Promise.all([chat, two, fork].map(async (each) => await chatState(from, each)));
    const before = await states(client);
    await host.stop();
    const again = await startHost({ log });
    const back = await nativeClient(again, 'phone', { initialSubscriptions: [] });
    expect(await states(back)).toEqual(before);
    expect(await chatsOf(back, uri)).toEqual([chat, two, fork]);
    const { items } = await back.request<{ items: SessionSummary[] }>('listSessions', { channel: ROOT });
    expect(items[0]?.chats?.map(({ resource }) => resource)).toEqual([chat, two, fork]);
  });

  it('[UP-067] [UP-072] work at the same time, and the session shows what each does', async () => {
    const { client, uri, chat, agent, open, host } = await openChats({ session: { provider: 'puppet' } });
    const two = await open('two', { initialMessage: userMessage('b') });
    const second = await agent.turn(0);
    client.dispatch(chat, { type: 'chat/turnStarted', turnId: 'a', message: userMessage('a') } as never);
    const first = await agent.turn(1);
    const summary = async () => {
      await settle();
      const { items } = await client.request<{ items: SessionSummary[] }>('listSessions', { channel: ROOT });
      return items[0];
    };
    const statusOf = (state: SessionState) => state.chats.map(({ status }) => status & 31);
    expect(statusOf(await sessionState(client, uri))).toEqual([8, 8]);
    first.finish();
    await client.action(chat, 'chat/turnComplete');
    expect([(await summary())?.status, statusOf(await sessionState(client, uri))]).toEqual([1, [1, 8]]);
    // A host that dies now cuts a turn off.
    expect(await host.log.records('active:')).toHaveLength(1);
    const asked = second.turn.ask({ id: 'q', message: 'Which?', questions: [] });
    await client.action(uri, 'session/inputNeededSet');
    expect((await summary())?.status).toBe(24);
    expect((await sessionState(client, uri)).inputNeeded).toMatchObject([{ kind: 'chatInput', chat: two }]);
    client.dispatch(two, { type: 'chat/inputCompleted', requestId: 'q', response: 'accept' } as never);
    await asked;
    second.fail(new Error('broke'));
    await client.action(two, 'chat/error');
    expect((await summary())?.status).toBe(2);
    expect(await host.log.records('active:')).toEqual([]);
  });

  it('[UP-174] [UP-100] keep apart what waits in them under the same names', async () => {
    const { client, uri, chat, open } = await openChats();
    const two = await open('two', { initialMessage: userMessage('tool') });
    client.dispatch(chat, { type: 'chat/turnStarted', turnId: 'a', message: userMessage('tool') } as never);
    const waits = async () => ((await sessionState(client, uri)).inputNeeded ?? []).map((entry) => entry.chat);
    await client.until(
      ({ params }) => JSON.stringify(params ?? '').includes('inputNeededSet') && params?.channel === uri,
    );
    await settle(20);
    expect((await waits()).sort()).toEqual([chat, two].sort());
    const answer = { type: 'chat/toolCallConfirmed', toolCallId: 'c1', approved: true, confirmed: 'user-action' };
    client.dispatch(chat, { ...answer, turnId: 'a' } as never);
    await client.action(chat, 'chat/turnComplete');
    await settle();
    expect(await waits()).toEqual([two]);
    const turnId = (await chatState(client, two)).activeTurn?.id;
    client.dispatch(two, { ...answer, turnId } as never);
    await client.action(two, 'chat/turnComplete');
    await settle();
    expect(await sessionState(client, uri)).not.toHaveProperty('inputNeeded');
  });

  it('[UP-183] do not name their session', async () => {
    const { client, uri, open } = await openChats();
    const { title } = await sessionState(client, uri);
    const two = await open('two');
    await nativeTurn(client, two, 'hello');
    expect((await sessionState(client, uri)).title).toBe(title);
  });
});

describe('a chat that is attached to a message', () => {
  const attachment = (resource: string, endTurn?: string) => ({
    type: 'chat',
    label: 'Other',
    resource,
    ...(endTurn && { endTurn }),
  });

  it('[UP-075] is told to the model up to its last turn when the message was sent', async () => {
    const { client, chat, agent, open } = await openChats({ session: { provider: 'puppet' } });
    const two = await open('two', { initialMessage: userMessage('a question') });
    const answering = await agent.turn(0);
    answering.turn.text('an answer');
    answering.finish();
    await client.action(two, 'chat/turnComplete');
    const message = { ...userMessage('look at this'), attachments: [attachment(two)] };
    client.dispatch(chat, { type: 'chat/turnStarted', turnId: 'a', message } as never);
    const { turn } = await agent.turn(1);
    expect(turn.context.join()).toMatch(/Person: a question\nAgent: an answer/);
    const { activeTurn } = await chatState(client, chat);
    expect(activeTurn?.message.attachments).toMatchObject([{ endTurn: (await chatState(client, two)).turns[0]?.id }]);
  });

  it('[UP-075] is refused when it, or its turn, is not there; an empty one is not', async () => {
    const { client, chat, open } = await openChats();
    const two = await open('two');
    const reason = async (attached: object) => {
      const message = { ...userMessage('x'), attachments: [attached] };
      const seq = client.dispatch(chat, { type: 'chat/turnStarted', turnId: crypto.randomUUID(), message } as never);
      const { params } = await client.until(
        ({ params: envelope }) => (envelope?.origin as { clientSeq: number } | undefined)?.clientSeq === seq,
      );
      return (params as { rejectionReason?: string }).rejectionReason;
    };
    expect(await reason(attachment('ahp-chat:/none'))).toContain('there is no chat');
    expect(await reason(attachment(two, 'none'))).toContain('has no turn none');
    expect(await reason(attachment(two))).toBe(undefined);
  });

  it('[UP-075] is one of so many and no more', async () => {
    const { client, chat, open } = await openChats();
    const two = await open('two');
    const starting = (count: number) => {
      const message = { ...userMessage('x'), attachments: Array.from({ length: count }, () => attachment(two)) };
      return { type: 'chat/turnStarted', turnId: crypto.randomUUID(), message };
    };
    expect(await refusalOf(client, chat, starting(MESSAGE_CHATS_MAX + 1))).toContain(String(MESSAGE_CHATS_MAX));
    expect(await refusalOf(client, chat, starting(MESSAGE_CHATS_MAX))).toBeUndefined();
  });
});
