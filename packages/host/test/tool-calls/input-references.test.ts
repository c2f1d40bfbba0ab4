/** Long tool input: clients of 1.0 get it by reference, older ones as text, and what runs is what they were shown. */
import { createHash } from 'node:crypto';
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import { INLINE_TEXT_MAX_CHARACTERS, REFERENCED_INPUT_MAX_BYTES } from '@atrium/core/tool-calls/limits.js';
import {
  type ChatState,
  type ChatToolCallConfirmedAction,
  type ContentRef,
  chatReducer,
  type SessionState,
  type StateAction,
  type ToolCallState,
} from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { READ_MAX_BYTES } from '../../src/workspace/files/read.js';
import { type ChatFixture, type ChatFixtureOptions, openChats } from '../support/chat-fixture.js';
import { FakeClock } from '../support/fake-clock.js';
import { chatState, nativeClient, sessionState, userMessage } from '../support/native-client.js';
import { startHost } from '../support/session-fixture.js';
import { type RawClient, settle } from '../support/test-host.js';
import { type EchoTool, echoTool } from '../support/tools.js';

const PUPPET = { session: { provider: 'puppet' } };

/** JSON that is this long, with characters of one, two and four bytes in it. */
function inputOf(length: number, letter = 'x'): string {
  const [head, tail] = ['{"text":"ü🚀', '"}'];
  return `${head}${letter.repeat(length - head.length - tail.length)}${tail}`;
}

const LONG = inputOf(INLINE_TEXT_MAX_CHARACTERS + 1);
const OTHER = inputOf(INLINE_TEXT_MAX_CHARACTERS + 1, 'y');
const SHORT = '{"text":"short"}';

interface Asked extends ChatFixture {
  readonly tool: EchoTool;
  readonly outcome: Promise<unknown>;
}

/** A call of turn `t1` that waits for a person. */
async function openAsking(input: string, options: ChatFixtureOptions = {}): Promise<Asked> {
  const tool = echoTool('write', { confirmation: { title: 'Write?', editable: true }, work: () => 'written' });
  const fixture = await openChats({ ...PUPPET, tools: [tool], ...options });
  return { ...fixture, tool, ...(await ask(fixture, input)) };
}

async function ask({ client, agent, chat }: ChatFixture, input: string, turnId = 't1') {
  client.dispatch(chat, { type: 'chat/turnStarted', turnId, message: userMessage('go') } as { type: string });
  const { turn } = await agent.turn(agent.turns.length);
  const outcome = turn.callTool({ id: 'c1', name: 'write', input });
  outcome.catch(() => {});
  await client.action(chat, (action) => action.type === 'chat/toolCallReady' && action.turnId === turnId);
  return { outcome };
}

function callOf({ activeTurn, turns }: ChatState): ToolCallState {
  const parts = activeTurn?.responseParts ?? turns.at(-1)?.responseParts ?? [];
  const part = parts.find(({ kind }) => kind === 'toolCall');
  if (part?.kind !== 'toolCall') throw new Error('there is no call');
  return part.toolCall;
}

const inputIn = (call: ToolCallState) => ('toolInput' in call ? call.toolInput : undefined);

async function shownTo(client: RawClient, chat: string) {
  return inputIn(callOf(await chatState(client, chat)));
}

async function referenceOf(client: RawClient, chat: string): Promise<ContentRef> {
  const input = await shownTo(client, chat);
  if (typeof input !== 'object') throw new Error('the input is no reference');
  return input;
}

async function read(client: RawClient, uri: string): Promise<string> {
  const { data, encoding } = await client.request<{ data: string; encoding: string }>('resourceRead', {
    channel: 'ahp-root://',
    uri,
  });
  expect(encoding).toBe('utf-8');
  return data;
}

async function readError(client: RawClient, uri: string) {
  return (await client.ask('resourceRead', { channel: 'ahp-root://', uri })).error;
}

function answer(more: object = {}): ChatToolCallConfirmedAction {
  const target = { turnId: 't1', toolCallId: 'c1' };
  return { type: 'chat/toolCallConfirmed', ...target, approved: true, confirmed: 'user-action', ...more } as never;
}

/** A client's own state of a chat: the first snapshot that it got, and every action since. */
function mirrorOf({ received }: RawClient, chat: string): ChatState {
  let mirror: ChatState | undefined;
  for (const { method, params, result } of received) {
    const { snapshot } = (result ?? {}) as { snapshot?: { resource: string; state: ChatState } };
    if (snapshot?.resource === chat) mirror ??= snapshot.state;
    if (method === 'action' && params?.channel === chat && params.rejectionReason === undefined && mirror)
      mirror = chatReducer(mirror, params.action as StateAction as never);
  }
  if (!mirror) throw new Error('it has no state');
  return mirror;
}

describe('a long tool input', () => {
  it.each(['1.0.0', '1.3.7'])(
    '[UP-076] [UP-250] reaches clients of %s by reference, in actions and in snapshots, and reads as what runs',
    async (version) => {
      const { host, client, chat, uri, tool, outcome } = await openAsking(LONG);
      const late = await nativeClient(host, 'late', { protocolVersions: [version] });
      const reference = await referenceOf(late, chat);
      expect(reference).toEqual({
        uri: expect.stringMatching(/^atrium-input:\/[\w-]+\/[0-9a-f]{64}$/),
        sizeHint: Buffer.byteLength(LONG),
        contentType: 'text/plain',
      });
      expect(reference.uri).toContain(createHash('sha256').update(LONG).digest('hex'));
      const { action } = await client.action(chat, 'chat/toolCallReady');
      expect(action.toolInput).toEqual(reference);
      expect(await read(late, reference.uri)).toBe(LONG);
      const [needed] = (await sessionState(late, uri)).inputNeeded ?? [];
      expect(needed).toMatchObject({ kind: 'toolConfirmation', toolCall: { toolInput: reference } });
      const listed = await client.action(uri, 'session/inputNeededSet');
      expect(listed.action.request).toMatchObject({ toolCall: { toolInput: reference } });
      late.dispatch(chat, answer());
      await outcome;
      expect(tool.runs).toEqual([JSON.parse(LONG)]);
      expect(await shownTo(late, chat)).toEqual(reference);
      expect(JSON.stringify(late.received.filter(({ method }) => method === 'action'))).not.toContain('xxxx');
    },
  );

  it.each(['0.9.0', '0.7.0', '0.6.0', '0.5.2', '0.5.0'])(
    '[UP-214] [UP-250] is text to clients of %s',
    async (version) => {
      const { host, chat, uri } = await openAsking(LONG);
      const older = await nativeClient(host, 'older', { protocolVersions: [version] });
      expect(await shownTo(older, chat)).toBe(LONG);
      if (version === '0.5.0') return;
      expect((await older.state<SessionState>(uri)).inputNeeded).toMatchObject([{ toolCall: { toolInput: LONG } }]);
    },
  );

  it('[UP-250] is text to clients without chats', async () => {
    const { host, uri } = await openAsking(LONG);
    const older = await host.client('older');
    expect(JSON.stringify(await older.state(uri))).toContain(JSON.stringify(LONG));
  });

  it('[UP-250] begins behind 64 Ki characters', async () => {
    const { client, chat } = await openAsking(inputOf(INLINE_TEXT_MAX_CHARACTERS));
    expect(await shownTo(client, chat)).toBe(inputOf(INLINE_TEXT_MAX_CHARACTERS));
  });

  it('[UP-250] stays text where no answer could carry it, or none could carry it unchanged', async () => {
    expect(REFERENCED_INPUT_MAX_BYTES).toBe(READ_MAX_BYTES);
    const half = `{"text":"${'x'.repeat(INLINE_TEXT_MAX_CHARACTERS)}\ud83d"}`;
    const large = `{"text":"${'ü'.repeat(REFERENCED_INPUT_MAX_BYTES / 2)}"}`;
    const { client, chat } = await openAsking(half);
    expect(await shownTo(client, chat)).toBe(half);
    const second = await openAsking(large);
    expect(await shownTo(second.client, second.chat)).toBe(large);
  });

  it('[UP-250] is read as bytes where its text has to be escaped too much', async () => {
    const quotes = JSON.stringify({ text: '"\\'.repeat(2 ** 20 - 100) });
    const { client, chat } = await openAsking(quotes);
    const { uri } = await referenceOf(client, chat);
    const { data, encoding } = await client.request<{ data: string; encoding: BufferEncoding }>('resourceRead', {
      channel: 'ahp-root://',
      uri,
    });
    expect(Buffer.from(data, encoding).toString()).toBe(quotes);
  });

  it('[UP-251] is not read by a name that says something else', async () => {
    const { client, chat, uri: session } = await openAsking(LONG);
    const { uri } = await referenceOf(client, chat);
    const named = (...place: unknown[]) =>
      uri.replace(/[\w-]+(?=\/\w+$)/, Buffer.from(JSON.stringify(place)).toString('base64url'));
    expect(await read(client, named(chat, 't1', 'c1'))).toBe(LONG);
    const strange = [
      uri.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
      named(chat, 't1', 'c2'),
      named(chat, 't2', 'c1'),
      named('ahp-chat:/other', 't1', 'c1'),
      named(session, 't1', 'c1'),
      named(chat, 't1', 7),
      named(chat),
      named(null),
      `${uri}/more`,
      'atrium-input:/AAAA/0',
      'atrium-input:',
    ];
    for (const name of strange) expect(await readError(client, name), name).toMatchObject({ code: -32008 });
  });

  it.each([
    ['long for long', LONG, OTHER],
    ['long for short', SHORT, OTHER],
    ['short for long', LONG, SHORT],
  ])('[UP-076] [UP-252] an edit, %s, is what runs and what every client shows', async (_what, input, edited) => {
    const { host, client, chat, uri, tool, outcome } = await openAsking(input);
    const other = await nativeClient(host, 'other', { protocolVersions: ['1.0.0'] });
    const first = await shownTo(other, chat);
    const text = await nativeClient(host, 'text', { protocolVersions: ['0.9.0'] });
    await chatState(text, chat);
    const plain = await host.client('plain');
    await plain.state(uri);
    client.dispatch(chat, answer({ editedToolInput: edited }));
    await outcome;
    expect(tool.runs).toEqual([JSON.parse(edited)]);
    await client.action(chat, 'chat/toolCallComplete');
    for (const each of [client, other]) {
      const shown = await shownTo(each, chat);
      expect(typeof shown === 'object' ? await read(each, shown.uri) : shown).toBe(edited);
      expect(mirrorOf(each, chat)).toEqual(await chatState(each, chat));
    }
    if (typeof first === 'object') expect(await readError(other, first.uri)).toMatchObject({ code: -32008 });
    expect(await shownTo(text, chat)).toBe(edited);
    expect(inputIn(callOf(mirrorOf(text, chat)))).toBe(edited);
    // Clients without chats are told by the answer, and need no snapshot for it.
    expect(plain.closed).toBeUndefined();
    expect(plain.types(uri).filter((type) => type.startsWith('session/toolCall'))).toEqual([
      'session/toolCallConfirmed',
      // What rules say about what runs now.
      'session/toolCallContentChanged',
      'session/toolCallComplete',
    ]);
    expect(JSON.stringify(await plain.state(uri))).toContain(JSON.stringify(edited));
  });

  it('[UP-252] an edit that nobody may make changes nothing', async () => {
    const tool = echoTool('write', { confirmation: { title: 'Write?' } });
    const { client, chat } = await openAsking(LONG, { tools: [tool] });
    const reference = await referenceOf(client, chat);
    const seq = client.dispatch(chat, answer({ editedToolInput: SHORT }));
    const { rejectionReason } = await client.action(chat, 'chat/toolCallConfirmed');
    expect([seq, rejectionReason]).toEqual([expect.any(Number), 'its input cannot be edited']);
    expect(await shownTo(client, chat)).toEqual(reference);
  });

  it('[UP-251] [REL-011] outlives a restart: by replay and by snapshot it is the same, and is read the same', async () => {
    const log = new MemoryLog();
    const { client, chat, agent, outcome } = await openAsking(LONG, { log });
    const { uri } = await referenceOf(client, chat);
    const { serverSeq } = await client.action(chat, 'chat/toolCallStart');
    client.dispatch(chat, answer());
    await outcome;
    (await agent.turn(0)).finish();
    await client.action(chat, 'chat/turnComplete');
    await settle();
    const next = await startHost({ log, clock: new FakeClock() });
    const back = next.connect();
    const { actions } = await back.request<{ actions: { action: Record<string, unknown> }[] }>('reconnect', {
      channel: 'ahp-root://',
      clientId: 'desk',
      lastSeenServerSeq: serverSeq,
      subscriptions: [chat],
    });
    const ready = actions.find(({ action }) => action.type === 'chat/toolCallReady');
    expect(ready?.action.toolInput).toMatchObject({ uri });
    expect(await shownTo(back, chat)).toMatchObject({ uri });
    expect(await read(back, uri)).toBe(LONG);
  });

  it('[UP-251] is shown and read of turns that only the log has', async () => {
    const tool = echoTool('write');
    const fixture = await openChats({ ...PUPPET, tools: [tool] });
    const { client, chat, agent, log } = fixture;
    for (let index = 0; index < 120; index++) {
      const turnId = `t${index}`;
      const { outcome } = await ask(fixture, index === 3 ? LONG : SHORT, turnId);
      await outcome;
      (await agent.turn(index)).finish();
      await client.action(chat, (action) => action.type === 'chat/turnComplete' && action.turnId === turnId);
    }
    await settle();
    const next = await startHost({ log, agents: [agent], clock: new FakeClock() });
    const stranger = await nativeClient(next, 'stranger');
    const { turns } = await chatState(stranger, chat);
    expect(turns).toHaveLength(120);
    const input = inputIn(callOf({ turns: turns.slice(3, 4) } as unknown as ChatState));
    expect(input).toMatchObject({ sizeHint: Buffer.byteLength(LONG) });
    expect(await read(stranger, (input as ContentRef).uri)).toBe(LONG);
    const windowed = await nativeClient(next, 'windowed');
    await windowed.request('subscribe', { channel: chat, view: { turns: 1 } });
    await windowed.request('fetchTurns', { channel: chat, cursor: '4' });
    const { action } = await windowed.action(chat, 'chat/turnsLoaded');
    const loaded = (action.turns as ChatState['turns']).slice(-1);
    expect(inputIn(callOf({ turns: loaded } as unknown as ChatState))).toEqual(input);
  });

  it('[UP-251] is gone with its turn when history is cut, at once and after a restart', async () => {
    const log = new MemoryLog();
    const fixture = await openAsking(SHORT, { log });
    const { client, chat, agent } = fixture;
    const end = async (turnId: string, index: number) => {
      client.dispatch(chat, answer({ turnId }));
      (await agent.turn(index)).finish();
      await client.action(chat, (action) => action.type === 'chat/turnComplete' && action.turnId === turnId);
    };
    await end('t1', 0);
    await ask(fixture, LONG, 't2');
    const { uri } = await referenceOf(client, chat);
    await end('t2', 1);
    expect(await read(client, uri)).toBe(LONG);
    client.dispatch(chat, { type: 'chat/truncated', turnId: 't1' } as { type: string });
    await client.action(chat, 'chat/truncated');
    expect(await readError(client, uri)).toMatchObject({ code: -32008 });
    await settle();
    const next = await startHost({ log, agents: [agent], clock: new FakeClock() });
    const back = await nativeClient(next, 'back');
    expect((await chatState(back, chat)).turns).toHaveLength(1);
    expect(await readError(back, uri)).toMatchObject({ code: -32008 });
  });

  it('[UP-251] a fork has a reference of its own; with a chat its references go', async () => {
    const { client, chat, agent, uri, open, outcome } = await openAsking(LONG);
    client.dispatch(chat, answer());
    await outcome;
    (await agent.turn(0)).finish();
    await client.action(chat, 'chat/turnComplete');
    const original = await referenceOf(client, chat);
    const fork = await open('fork', { source: { kind: 'fork', chat, turnId: 't1' } });
    const copy = await referenceOf(client, fork);
    expect(copy.uri).not.toBe(original.uri);
    expect(await read(client, copy.uri)).toBe(LONG);
    await client.request('disposeChat', { channel: fork });
    expect(await readError(client, copy.uri)).toMatchObject({ code: -32008 });
    expect(await read(client, original.uri)).toBe(LONG);
    await client.request('disposeSession', { channel: uri });
    expect(await readError(client, original.uri)).toMatchObject({ code: -32008 });
  });
});
