/** Making room in a model's memory: by a person's `/compact`, and by itself at a share of the window. */
import type { ToolRequest } from '@atrium/core/contracts/agent.js';
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import { type ChatState, compactCommand, compactionIn, compactionPart, literal } from '@atrium/protocol/ahp-1';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CALLS_AT_ONCE_MAX } from '../../../agents/src/model/answer.js';
import { modelAgent } from '../../../agents/src/model/backend.js';
import { COMPACT_AT_SHARE, ContextWindow } from '../../../agents/src/model/context-window.js';
import { upToTurn, withCompaction } from '../../../agents/src/model/conversation.js';
import { CHARACTERS_PER_TOKEN } from '../../../agents/src/model/tokens.js';
import { completed, FakeTurn, runTurn } from '../support/fake-turn.js';
import { ModelServer, type ServedAnswer } from '../support/model-server.js';
import { nativeClient, nativeSession, userMessage } from '../support/native-client.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { startHost } from '../support/session-fixture.js';
import type { RawClient } from '../support/test-host.js';

const OPTIONS = { provider: 'model', displayName: 'Model', kind: 'openai-compatible', retries: 0 } as const;

async function serve(...answers: ServedAnswer[]) {
  const server = await ModelServer.start(...answers);
  onTestFinished(() => server.stop());
  const agent = modelAgent({ ...OPTIONS, baseURL: server.url, models: [{ id: 'm-1', name: 'M 1' }] });
  return { server, agent };
}

async function say(client: RawClient, chat: string, turnId: string, text: string): Promise<void> {
  client.dispatch(chat, { type: 'chat/turnStarted', turnId, message: userMessage(text) } as never);
  const ends = ['chat/turnComplete', 'chat/error'];
  await client.action(chat, (action) => ends.includes(action.type) && 'turnId' in action && action.turnId === turnId);
}

const words = (...texts: string[]): ServedAnswer[] => texts.map((text) => ({ text: [text] }));

describe('/compact [DAY-082]', () => {
  it('sums up older turns for the model alone, and its part outlives the host, a fork, and goes with a cut', async () => {
    const { server, agent } = await serve(...words('one', 'two', 'three', '- alpha was asked', 'four'));
    const log = new MemoryLog();
    const host = await startHost({ log, scripts: [], agents: [agent] });
    const client = await nativeClient(host, 'desk');
    const { uri, chat } = await nativeSession(client, { provider: 'model' });
    await say(client, chat, 't1', `alpha ${'a '.repeat(300)}`);
    await say(client, chat, 't2', `beta ${'b '.repeat(300)}`);
    await say(client, chat, 't3', 'gamma');
    await say(client, chat, 'c1', '/compact the names of letters');
    const asked = server.requests[3];
    expect(server.heard(3)).toMatch(/keep this above all: the names of letters[\s\S]*Person: alpha[\s\S]*You: one/);
    expect(asked?.body).not.toHaveProperty('tools');
    const { turns } = await client.state<ChatState>(chat);
    // Older turns stay readable for people.
    expect(turns.map(({ message }) => message.text.slice(0, 8))).toEqual(['alpha a ', 'beta b b', 'gamma', '/compact']);
    const compaction = turns[3]?.responseParts.flatMap((part) => compactionIn(part) ?? [])[0];
    expect(compaction).toMatchObject({ summary: '- alpha was asked', firstKept: 't3', turns: 2, isAsked: true });
    expect(compaction?.tokensAfter).toBeLessThan(compaction?.tokensBefore ?? 0);

    await say(client, chat, 't4', 'delta');
    expect(server.heard()).toMatch(/summed up[\s\S]*- alpha was asked[\s\S]*gamma[\s\S]*three[\s\S]*delta/);
    expect(server.heard()).not.toMatch(/beta b|\/compact/);

    // Never stopped: as if it had been killed.
    const next = await startHost({ log, scripts: [], agents: [agent] });
    const phone = await nativeClient(next, 'phone');
    await phone.request('subscribe', { channel: chat });
    server.answer(...words('five'));
    await say(phone, chat, 't5', 'epsilon');
    expect(server.heard()).toMatch(/- alpha was asked[\s\S]*gamma[\s\S]*four[\s\S]*epsilon/);
    expect(server.heard()).not.toMatch(/beta b|\/compact/);

    const fork = { kind: 'fork', chat, turnId: 't4' };
    await phone.request('createChat', { channel: uri, chat: 'ahp-chat:/fork', source: fork });
    await phone.request('subscribe', { channel: 'ahp-chat:/fork' });
    server.answer(...words('six'));
    await say(phone, 'ahp-chat:/fork', 'f1', 'zeta');
    expect(server.heard()).toMatch(/- alpha was asked[\s\S]*gamma[\s\S]*zeta/);
    expect(server.heard()).not.toMatch(/beta b|epsilon/);

    // The summary goes with the turn that has it: the model knows the turns themselves again.
    phone.dispatch(chat, { type: 'chat/truncated', turnId: 't3' } as never);
    server.answer(...words('seven'));
    await say(phone, chat, 't6', 'eta');
    expect(server.heard()).toMatch(/alpha a[\s\S]*beta b[\s\S]*gamma[\s\S]*three[\s\S]*eta/);
    expect(server.heard()).not.toMatch(/- alpha was asked|delta/);
  });

  it('that fails loses nothing, and without turns there is nothing to do', async () => {
    const { server, agent } = await serve();
    const host = await startHost({ scripts: [], agents: [agent] });
    const client = await nativeClient(host, 'desk');
    const { chat } = await nativeSession(client, { provider: 'model' });
    await say(client, chat, 'c0', '/compact');
    expect(server.requests).toHaveLength(0);
    server.answer({ text: ['one'] }, { text: ['two'] }, { status: 500, message: 'down' }, { text: ['three'] });
    await say(client, chat, 't1', 'alpha');
    await say(client, chat, 't2', 'beta');
    await say(client, chat, 'c1', '/compact');
    await say(client, chat, 't3', 'gamma');
    expect(server.heard()).toMatch(/alpha[\s\S]*one[\s\S]*beta[\s\S]*two[\s\S]*gamma/);
    const { turns } = await client.state<ChatState>(chat);
    expect(turns.map(({ state }) => state)).toEqual(['complete', 'complete', 'complete', 'error', 'complete']);
    expect(turns[0]?.responseParts).toMatchObject([{ content: 'There is nothing to sum up yet.' }]);
    const failure = {
      kind: 'error',
      error: { errorType: 'compaction-failed', message: expect.stringContaining('nothing is lost') },
    };
    expect(turns[3]?.responseParts).toMatchObject([failure]);
  });

  it('is said to be missing where the agent has none, and the agent does not get it as a text', async () => {
    const agent = new PuppetAgent();
    const host = await startHost({ agents: [agent] });
    const client = await nativeClient(host, 'desk');
    const { chat } = await nativeSession(client, { provider: 'puppet' });
    await say(client, chat, 'c1', '/compact');
    expect(agent.turns).toHaveLength(0);
    const { turns } = await client.state<ChatState>(chat);
    expect(turns[0]?.responseParts).toMatchObject([{ content: expect.stringContaining('has no /compact') }]);
    const message = literal(userMessage('/compact') as never);
    expect([
      compactCommand(message),
      compactCommand({ text: '/compact' }),
      compactCommand({ text: '/compacted' }),
    ]).toEqual([undefined, '', undefined]);
  });
});

describe('the calls of one answer [DAY-083]', () => {
  it('run at the same time, so many at most, and their results keep the order of the calls', async () => {
    const inputs = Array.from({ length: CALLS_AT_ONCE_MAX + 4 }, (_, index) => ({ name: 'look', input: { index } }));
    const { server, agent } = await serve({ calls: inputs }, { text: ['Done.'] });
    let [running, most] = [0, 0];
    const callTool = async ({ input }: ToolRequest) => {
      running += 1;
      most = Math.max(most, running);
      const { index } = input as { index: number };
      // The first ones are the last to end.
      await new Promise((resolve) => setTimeout(resolve, index < 2 ? 30 : 1));
      running -= 1;
      return completed(`result ${index}`);
    };
    await runTurn(agent, new FakeTurn('go', { tools: [{ name: 'look' }], callTool }));
    expect(most).toBe(CALLS_AT_ONCE_MAX);
    const results = [...server.heard().matchAll(/result (\d+)/g)].map(([, index]) => Number(index));
    expect(results).toEqual(inputs.map(({ input }) => input.index));
  });
});

describe('the window of a model [DAY-082]', () => {
  const model = { id: 'm-1', name: 'M 1', maxContextWindow: 100_000 };
  const exchange = (turnId: string, tokens: number) => ({
    turnId,
    messages: [{ role: 'user' as const, content: 'x'.repeat(tokens * CHARACTERS_PER_TOKEN - 60) }],
  });
  const filled = (tokens: number) => ({
    leftOut: [],
    exchanges: [exchange('a', tokens / 2), exchange('b', tokens / 2 - 1_000), exchange('go', 1_000)],
  });

  async function fitted(tokens: number, ...answers: ServedAnswer[]) {
    const { server } = await serve(...answers);
    const window = new ContextWindow({ ...OPTIONS, models: [model], baseURL: server.url });
    const turn = new FakeTurn('go', { id: 'go' });
    const meter = { requested: () => {}, add: () => {} };
    const request = { turn, model, conversation: filled(tokens), others: '', meter };
    return { server, turn, window, request, after: await window.fit(request) };
  }

  it('is made free again at a share of it, and not before; the newest turns stay', async () => {
    const below = await fitted(100_000 * COMPACT_AT_SHARE - 500);
    expect(below.after).toBe(below.request.conversation);
    const { after, turn } = await fitted(100_000 * COMPACT_AT_SHARE + 500, { text: ['- notes'] });
    expect(after).toMatchObject({ summary: '- notes', summaryTurn: 'go' });
    expect(after.exchanges.map(({ turnId }) => turnId)).toEqual(['go']);
    expect(turn.events).toContainEqual({ activity: 'Summing up 2 earlier turns' });
  });

  it('stays as it is when that fails, and the model is not asked again in this turn', async () => {
    const { server, window, request, turn, after } = await fitted(85_000, { status: 500, message: 'down' });
    expect(after).toEqual(request.conversation);
    expect(turn.events).toContainEqual({ notify: expect.stringContaining('stay as they are') });
    await window.fit(request);
    expect(server.requests).toHaveLength(1);
  });

  it('knows a turn only as long as its summary stands before the cut', () => {
    const whole = { leftOut: [], exchanges: ['a', 'b', 'c', 'd'].map((turnId) => exchange(turnId, 100)) };
    const short = withCompaction(whole, 'c', { summary: 's', firstKept: 'b' });
    expect(upToTurn(short, 'b')).toBeUndefined();
    expect(upToTurn(short, 'a')).toBeUndefined();
    expect(upToTurn(short, 'c')).toMatchObject({ summary: 's', exchanges: [{ turnId: 'b' }, { turnId: 'c' }] });
  });

  it('takes no part for a summary that is not whole', () => {
    const compaction = { summary: 's', firstKept: 'b', turns: 1, tokensBefore: 12_000, tokensAfter: 10, isAsked: true };
    const part = compactionPart(compaction);
    expect(compactionIn(part)).toEqual(compaction);
    expect(part.content).toContain('from about 12k to 10 tokens');
    expect(compactionIn({ ...part, _meta: { 'atrium.compaction': { summary: 's' } } })).toBeUndefined();
    expect(compactionIn({ kind: 'systemNotification', content: 'x' })).toBeUndefined();
  });
});
