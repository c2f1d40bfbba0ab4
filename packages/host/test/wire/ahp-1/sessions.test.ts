import type { SessionState } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import {
  chatState,
  nativeClient,
  nativeSession,
  nativeTurn,
  sessionState,
  userMessage,
} from '../../support/native-client.js';
import { PuppetAgent } from '../../support/puppet-agent.js';
import { answerTo, type Envelope, openFixture, refusalOf, startHost } from '../../support/session-fixture.js';
import { type RawClient, ROOT, settle } from '../../support/test-host.js';

const action = (type: string, members: object = {}) => ({ type, ...members });
const started = (turnId: string, members: object = {}) =>
  action('chat/turnStarted', { turnId, message: userMessage('hello'), ...members });

/** A session of 1.0 whose agent is in the hands of the test. */
async function puppetSession() {
  const agent = new PuppetAgent();
  const host = await startHost({ agents: [agent] });
  const client = await nativeClient(host, 'desk');
  const { uri, chat } = await nativeSession(client, { provider: 'puppet' });
  return { agent, host, client, uri, chat };
}

async function puppetTurn(turnId = 't1') {
  const fixture = await puppetSession();
  fixture.client.dispatch(fixture.chat, started(turnId));
  return { ...fixture, puppet: await fixture.agent.turn(0) };
}

describe('a new session', () => {
  it('[UP-019] [UP-164] [UP-165] [UP-205] has its chat from the first snapshot on, with all members that typed clients need', async () => {
    const { host } = await openFixture();
    const client = await nativeClient(host, 'a');
    const uri = 'ahp-session:/new';
    await client.request('createSession', { channel: uri });
    const state = await sessionState(client, uri);
    expect(state.activeClients).toEqual([]);
    expect(state.chats).toHaveLength(1);
    expect(state.chats[0]?.resource).toBe(state.defaultChat);
    const chat = await chatState(client, state.defaultChat ?? '');
    expect(chat).toMatchObject({ resource: state.defaultChat, turns: [], status: 1 });
    expect(Number.isNaN(Date.parse(chat.modifiedAt))).toBe(false);
  });

  it('[UP-035] [UP-037] [UP-195] may name no agent, and choices that nobody offers', async () => {
    const { host } = await openFixture();
    const client = await nativeClient(host, 'a');
    const uri = 'ahp-session:/copilot';
    await client.request('createSession', { channel: uri, config: { mode: 'interactive' } });
    const state = await sessionState(client, uri);
    expect(state.provider).toBe('mock');
    expect(state.config?.values).toMatchObject({ mode: 'ask' });
  });

  it('[UP-036] [UP-063] works in the first of several folders where its agent knows one', async () => {
    const { host } = await openFixture();
    const client = await nativeClient(host, 'a');
    const { uri } = await nativeSession(client, { workingDirectories: ['file:///', 'file:///tmp'] });
    expect((await sessionState(client, uri)).workingDirectories).toEqual(['file:///']);
  });

  it('[UP-038] of an agent that is not here is refused', async () => {
    const { host } = await openFixture();
    const client = await nativeClient(host, 'a');
    const { error } = await client.ask('createSession', { channel: 'ahp-session:/x', provider: 'nobody' });
    expect(error?.code).toBe(-32002);
  });

  it('[UP-065] [UP-232] that fails says so in the words of each version', async () => {
    const agent = new PuppetAgent();
    agent.opening = Promise.reject(new Error('no'));
    agent.opening.catch(() => {});
    const host = await startHost({ agents: [agent] });
    const client = await nativeClient(host, 'a');
    const uri = 'ahp-session:/fails';
    await client.request('createSession', { channel: uri, provider: 'puppet' });
    await settle();
    expect((await sessionState(client, uri)).lifecycle).toBe('failed');
    const older = await host.client('b', { protocolVersions: ['0.7.0'] });
    expect((await sessionState(older, uri)).lifecycle).toBe('creationFailed');
  });

  it('[UP-206] [UP-066] is watched and answered by its chat alone', async () => {
    const { client, host, chat } = await puppetSession();
    const watcher = await nativeClient(host, 'b', { initialSubscriptions: [chat] });
    const speaker = await nativeClient(host, 'c', { initialSubscriptions: [] });
    speaker.dispatch(chat, started('t1'));
    await watcher.action(chat, 'chat/turnStarted');
    await client.action(chat, 'chat/turnStarted');
    speaker.dispatch(chat, action('chat/turnCancelled', { turnId: 't1' }));
    await watcher.action(chat, 'chat/turnCancelled');
  });

  it('[UP-166] goes with its chat', async () => {
    const { client, uri, chat } = await puppetSession();
    await client.request('disposeSession', { channel: uri });
    expect((await client.ask('subscribe', { channel: chat })).error).toBeDefined();
    expect((await client.ask('subscribe', { channel: uri })).error).toMatchObject({ code: -32001 });
  });
});

describe('a turn', () => {
  it('[UP-072] [UP-074] [UP-083] [UP-193] carries its times and selection, and the session lists its chat', async () => {
    const { host, clock } = await openFixture();
    const client = await nativeClient(host, 'a');
    const { uri, chat } = await nativeSession(client);
    const message = { ...userMessage('hello'), model: { id: 'small' } };
    client.dispatch(chat, action('chat/turnStarted', { turnId: 't1', message }));
    const begun = (await client.action(chat, 'chat/turnStarted')).action;
    expect(begun.startedAt).toBe(new Date(clock.now()).toISOString());
    const ended = (await client.action(chat, 'chat/turnComplete')).action;
    expect(ended.duration).toBeGreaterThanOrEqual(0);
    await settle();
    const { turns, ...state } = await chatState(client, chat);
    expect(turns[0]).toMatchObject({ id: 't1', startedAt: begun.startedAt, message, state: 'complete' });
    const [entry] = (await sessionState(client, uri)).chats;
    expect(entry).toMatchObject({ resource: chat, status: state.status, modifiedAt: state.modifiedAt });
    expect(client.types(uri)).toContain('session/chatUpdated');
  });

  it('[UP-167] of the queue begins with its message gone, and says which it was', async () => {
    const { client, chat, puppet } = await puppetTurn();
    client.dispatch(chat, action('chat/pendingMessageSet', { kind: 'queued', id: 'q1', message: userMessage('next') }));
    await client.action(chat, 'chat/pendingMessageSet');
    puppet.finish();
    const begun = await client.action(
      chat,
      ({ type, queuedMessageId }) => type === 'chat/turnStarted' && !!queuedMessageId,
    );
    expect(begun.action).toMatchObject({ queuedMessageId: 'q1', message: { text: 'next' } });
    const types = client.types(chat);
    expect(types.lastIndexOf('chat/pendingMessageRemoved')).toBe(types.lastIndexOf('chat/turnStarted') - 1);
  });

  it('[UP-168] takes a steering message once', async () => {
    const { client, chat, puppet } = await puppetTurn();
    client.dispatch(
      chat,
      action('chat/pendingMessageSet', { kind: 'steering', id: 's1', message: userMessage('left') }),
    );
    await client.action(chat, 'chat/pendingMessageSet');
    expect(puppet.turn.takeSteering()).toMatchObject({ text: 'left' });
    await client.action(chat, 'chat/pendingMessageRemoved');
    expect(puppet.turn.takeSteering()).toBeUndefined();
    expect((await chatState(client, chat)).steeringMessage).toBeUndefined();
  });

  it('[UP-169] that fails ends once, with the reason as its last part', async () => {
    const { client, chat, puppet } = await puppetTurn();
    puppet.turn.text('so far');
    puppet.fail(new Error('boom'));
    await client.action(chat, 'chat/error');
    await settle();
    expect(client.types(chat).filter((type) => type === 'chat/error')).toHaveLength(1);
    const [turn] = (await chatState(client, chat)).turns;
    expect(turn).toMatchObject({ state: 'error' });
    expect(turn?.responseParts.at(-1)).toMatchObject({
      kind: 'error',
      error: { message: expect.stringContaining('boom') },
    });
  });

  it('[UP-249] that a client stops keeps the time that the client measured', async () => {
    const { client, chat } = await puppetTurn();
    client.dispatch(chat, action('chat/turnCancelled', { turnId: 't1', duration: 1234 }));
    expect((await client.action(chat, 'chat/turnCancelled')).action.duration).toBe(1234);
    expect((await chatState(client, chat)).turns[0]?.duration).toBe(1234);
  });

  it('[UP-235] [UP-202] is stamped by the host when a client leaves out the times', async () => {
    const { client, chat } = await puppetTurn();
    expect((await client.action(chat, 'chat/turnStarted')).action.startedAt).toMatch(/^\d{4}-\d\d-\d\dT/);
    client.dispatch(chat, action('chat/turnCancelled', { turnId: 't1' }));
    expect((await client.action(chat, 'chat/turnCancelled')).action.duration).toBeGreaterThanOrEqual(0);
  });

  it('[UP-197] may be drafted by one client and seen by all', async () => {
    const { client, host, chat } = await puppetSession();
    const phone = await nativeClient(host, 'phone', { initialSubscriptions: [chat] });
    for (const text of ['h', 'he', 'hel'])
      client.dispatch(chat, action('chat/draftChanged', { draft: userMessage(text) }));
    await phone.action(
      chat,
      ({ type, draft }) => type === 'chat/draftChanged' && JSON.stringify(draft ?? '').includes('"hel"'),
    );
    expect((await chatState(phone, chat)).draft?.text).toBe('hel');
    expect(await refusalOf(client, chat, action('chat/draftChanged'))).toBeUndefined();
    expect(await chatState(phone, chat)).not.toHaveProperty('draft');
  });
});

describe('an action of a client', () => {
  it('[UP-150] for a channel that does not exist is dropped without an echo', async () => {
    const { client } = await puppetSession();
    const before = client.received.length;
    client.dispatch('ahp-chat:/none', started('t1'));
    client.dispatch('ahp-session:/none', action('session/titleChanged', { title: 'x' }));
    client.dispatch('nowhere', action('session/titleChanged', { title: 'x' }));
    await settle();
    expect(client.received).toHaveLength(before);
  });

  it('[UP-151] that changes nothing is answered, and does not come back changed', async () => {
    const { client, uri } = await puppetSession();
    const claim = action('session/activeClientSet', {
      activeClient: { clientId: 'desk', displayName: 'CLI', tools: [] },
    });
    for (let count = 0; count < 3; count++) expect(await refusalOf(client, uri, claim)).toBeUndefined();
    await settle();
    expect(client.types(uri).filter((type) => type !== 'session/ready')).toEqual(
      Array(3).fill('session/activeClientSet'),
    );
  });

  it('[UP-152] [UP-196] of a kind that nobody knows is rejected, and the connection stays', async () => {
    const { client, uri } = await puppetSession();
    expect(await refusalOf(client, uri, action('copilot/viewState', { x: 1 }))).toBeDefined();
    expect(await refusalOf(client, uri, action('session/titleChanged', { title: 'Still here' }))).toBeUndefined();
    expect(client.closed).toBeUndefined();
  });

  it('never speaks for the host, nor under its private name', async () => {
    const { client, uri, chat } = await puppetSession();
    expect(await refusalOf(client, uri, action('x-atrium/selectionChanged', { model: { id: 'm' } }))).toBeDefined();
    expect(await refusalOf(client, chat, action('chat/turnComplete', { turnId: 't', duration: 0 }))).toBeDefined();
    const forged = action('session/titleChanged', { title: 'x', 'x-atrium': { activeClient: null } });
    const { action: echoed } = await answerTo(client, uri, client.dispatch(uri, forged));
    expect(echoed).toEqual({ type: 'session/titleChanged', title: 'x' });
  });

  it.each<[string, object, string]>([
    [
      '[UP-153] a confirmation of no call',
      action('chat/toolCallConfirmed', { turnId: 't1', toolCallId: 'c', approved: true, confirmed: 'user-action' }),
      'c',
    ],
    ['[UP-154] stopping what does not run', action('chat/turnCancelled', { turnId: 'other', duration: 0 }), 'other'],
    ['[UP-155] resuming what did not fail', action('chat/turnResume', { turnId: 't1' }), 't1'],
    [
      '[UP-156] a message in the name of the agent',
      action('chat/pendingMessageSet', { kind: 'queued', id: 'q', message: { text: 'x', origin: { kind: 'agent' } } }),
      'origin',
    ],
    [
      '[UP-156] a draft in the name of a tool',
      action('chat/draftChanged', { draft: { text: 'x', origin: { kind: 'tool' } } }),
      'origin',
    ],
    ['[UP-157] an answer to no question', action('chat/inputCompleted', { requestId: 'r', response: 'accept' }), 'r'],
    ['[UP-158] taking back what does not wait', action('chat/pendingMessageRemoved', { kind: 'queued', id: 'q' }), 'q'],
    [
      '[UP-159] the end of no call',
      action('chat/toolCallComplete', {
        turnId: 't1',
        toolCallId: 'c',
        result: { success: true, pastTenseMessage: 'x' },
      }),
      'c',
    ],
  ])('%s is rejected, and says why', async (_name, given, word) => {
    const { client, chat } = await puppetTurn();
    expect(await refusalOf(client, chat, given as { type: string })).toContain(word);
  });

  it.each([
    ['[UP-161] a second folder', action('session/workingDirectorySet', { directory: 'file:///tmp' })],
    [
      '[UP-161] another folder',
      action('session/workingDirectoryReplaced', { directory: 'file:///', replacement: 'file:///tmp' }),
    ],
    [
      '[UP-162] a role for another',
      action('session/activeClientSet', { activeClient: { clientId: 'phone', tools: [] } }),
    ],
    ['[UP-163] what cannot change', action('session/configChanged', { config: { folder: '/tmp' } })],
  ])('%s is rejected', async (_name, given) => {
    const { client, uri } = await puppetSession();
    expect(await refusalOf(client, uri, given)).toBeDefined();
  });
});

describe('active clients', () => {
  const claim = (clientId: string, tools: object[] = []) =>
    action('session/activeClientSet', { activeClient: { clientId, tools } });

  async function two() {
    const fixture = await puppetSession();
    const phone = await nativeClient(fixture.host, 'phone', { initialSubscriptions: [fixture.uri, fixture.chat] });
    return { ...fixture, phone };
  }

  it('[UP-170] are as many as claim it, and each changes its own entry', async () => {
    const { client, phone, uri } = await two();
    await refusalOf(client, uri, claim('desk', [{ name: 'look' }]));
    await refusalOf(phone, uri, claim('phone', [{ name: 'shake' }]));
    await refusalOf(client, uri, claim('desk', [{ name: 'listen' }]));
    const { activeClients } = await sessionState(client, uri);
    expect(activeClients.map(({ clientId, tools }) => [clientId, tools[0]?.name])).toEqual([
      ['desk', 'listen'],
      ['phone', 'shake'],
    ]);
    await refusalOf(phone, uri, action('session/activeClientRemoved', { clientId: 'phone' }));
    expect((await sessionState(client, uri)).activeClients.map(({ clientId }) => clientId)).toEqual(['desk']);
  });

  it('[UP-173] [UP-174] [UP-175] are called by name, and the session lists that it waits for one', async () => {
    const { agent, client, phone, uri, chat } = await two();
    await refusalOf(client, uri, claim('desk', [{ name: 'look' }]));
    await refusalOf(phone, uri, claim('phone', [{ name: 'shake' }]));
    client.dispatch(chat, started('t1'));
    const { turn } = await agent.turn(0);
    const outcome = turn.callTool({ id: 'c1', name: 'shake', input: {} });
    await phone.action(chat, 'chat/toolCallReady');
    const begun = (await phone.action(chat, 'chat/toolCallStart')).action;
    expect(begun.contributor).toEqual({ kind: 'client', clientId: 'phone' });
    await settle();
    const during = await sessionState(client, uri);
    expect(during.inputNeeded).toMatchObject([{ kind: 'toolClientExecution', chat, turnId: 't1', clientId: 'phone' }]);
    expect(during.status & 16).toBe(0);
    const result = { success: true, pastTenseMessage: 'Shook', content: [{ type: 'text', text: 'dizzy' }] };
    const end = action('chat/toolCallComplete', { turnId: 't1', toolCallId: 'c1', result });
    expect(await refusalOf(client, chat, end)).toContain('another client');
    expect(await refusalOf(phone, chat, end)).toBeUndefined();
    expect(await outcome).toMatchObject({ success: true, text: 'dizzy' });
    await settle();
    expect(await sessionState(client, uri)).not.toHaveProperty('inputNeeded');
  });

  it('[UP-172] with the same tool: the one that started the turn runs it', async () => {
    const { agent, client, phone, uri, chat } = await two();
    await refusalOf(client, uri, claim('desk', [{ name: 'look' }]));
    await refusalOf(phone, uri, claim('phone', [{ name: 'look' }]));
    for (const [index, starter] of [phone, client].entries()) {
      starter.dispatch(chat, started(`t${index}`));
      const puppet = await agent.turn(index);
      expect(puppet.turn.tools().filter(({ name }) => name === 'look')).toHaveLength(1);
      void puppet.turn.callTool({ id: `c${index}`, name: 'look', input: {} }).catch(() => {});
      const begun = await client.action(
        chat,
        ({ type, toolCallId }) => type === 'chat/toolCallStart' && toolCallId === `c${index}`,
      );
      expect(begun.action.contributor).toEqual({ kind: 'client', clientId: starter.clientId });
      starter.dispatch(chat, action('chat/turnCancelled', { turnId: `t${index}`, duration: 0 }));
      await client.action(chat, ({ type, turnId }) => type === 'chat/turnCancelled' && turnId === `t${index}`);
    }
  });

  it('[UP-171] leave with their subscription, and with their connection', async () => {
    const { client, phone, uri } = await two();
    await refusalOf(client, uri, claim('desk'));
    await refusalOf(phone, uri, claim('phone'));
    phone.send({ method: 'unsubscribe', params: { channel: uri } });
    await client.action(uri, ({ type, clientId }) => type === 'session/activeClientRemoved' && clientId === 'phone');
    client.disconnect();
    await settle();
    const third = await phone.state<SessionState>(uri);
    expect(third.activeClients).toEqual([]);
  });
});

describe('clients of all versions', () => {
  it('[UP-240] [UP-241] [UP-014] see the same turn, each in its words and with rising numbers', async () => {
    const agent = new PuppetAgent();
    const host = await startHost({ agents: [agent] });
    const desk = await nativeClient(host, 'desk');
    const { uri, chat } = await nativeSession(desk, { provider: 'puppet' });
    const versions = ['1.0.0', '0.9.0', '0.7.0', '0.6.0', '0.5.2', '0.5.1', '0.5.0'];
    const clients = new Map<string, RawClient>();
    for (const version of versions) {
      const initialSubscriptions = [ROOT, uri, chat];
      clients.set(version, await host.client(version, { protocolVersions: [version], initialSubscriptions }));
    }
    const old = await host.client('0.3.0', { protocolVersions: ['0.3.0'], initialSubscriptions: [ROOT, uri] });
    desk.dispatch(chat, started('t1'));
    const puppet = await agent.turn(0);
    puppet.turn.text('one ');
    await settle();
    puppet.turn.text('two');
    puppet.finish();
    await old.action(uri, 'session/turnComplete');
    await settle();
    for (const [version, client] of clients) {
      const { turns } = await client.state<{ turns: { id: string; responseParts: { content?: string }[] }[] }>(chat);
      expect(turns, version).toMatchObject([{ id: 't1', responseParts: [{ content: 'one two' }] }]);
      const numbers = [...client.envelopes(chat), ...client.envelopes(uri)].map(({ serverSeq }) => serverSeq);
      const inOrder = client.received.flatMap(({ params }) => (params?.serverSeq as number | undefined) ?? []);
      expect(inOrder, version).toEqual([...numbers].sort((a, b) => a - b));
      expect(new Set(inOrder).size, version).toBe(inOrder.length);
      const known = (client.envelopes(chat) as Envelope[]).map(({ action: { type } }) => type);
      expect(known, version).toContain('chat/turnComplete');
    }
  });

  it('see what one of the oldest does', async () => {
    const { client: old, host, uri } = await openFixture();
    const native = await nativeClient(host, 'n', { initialSubscriptions: [uri] });
    const { defaultChat: chat = '' } = await sessionState(native, uri);
    await native.request('subscribe', { channel: chat });
    await old.turn(uri, 'hello', 'from-old');
    await native.action(chat, 'chat/turnComplete');
    await nativeTurn(native, chat, 'hello', 'from-new');
    await old.action(uri, ({ type, turnId }) => type === 'session/turnComplete' && turnId === 'from-new');
    expect((await chatState(native, chat)).turns.map(({ id }) => id)).toEqual(['from-old', 'from-new']);
  });
});
