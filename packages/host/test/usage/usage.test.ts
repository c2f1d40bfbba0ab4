/** What turns use: counted once, added up, priced. */

import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Commit, Log } from '@atrium/core/log/log.js';
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import type { UsageInfo, UsageReport } from '@atrium/protocol/ahp-1';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AcpUsage } from '../../../agents/src/acp/usage.js';
import { ClaudeUsage } from '../../../agents/src/claude/usage.js';
import { modelAgent } from '../../../agents/src/model/backend.js';
import { ACCOUNT_ROWS_MAX, rowIn } from '../../src/usage/accounts.js';
import { PriceList } from '../../src/usage/price-list.js';
import { PRICES, PRICES_DATE, PRICES_SOURCE } from '../../src/usage/prices.js';
import { failingLog } from '../support/failing-log.js';
import { FakeClock } from '../support/fake-clock.js';
import { FakeTurn, runTurn } from '../support/fake-turn.js';
import { nativeClient, nativeSession, userMessage } from '../support/native-client.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { refusalOf, startHost } from '../support/session-fixture.js';
import { type RawClient, settle, startTestHost, type TestHost } from '../support/test-host.js';

class ResumingPuppet extends PuppetAgent {
  override readonly abilities = { ...new PuppetAgent().abilities, resume: true };
}

/** Noon, so that no time zone of a tester makes it another day. */
const NOON = new Date(2026, 10, 18, 12).getTime();
const DAY_MS = 24 * 60 * 60 * 1_000;
const MODEL = 'claude-sonnet-4-5-20250929';

const usageOf = (input: number, output: number, more: Partial<UsageInfo> = {}): UsageInfo => ({
  inputTokens: input,
  outputTokens: output,
  cacheReadTokens: input / 2,
  model: MODEL,
  ...more,
});

async function open(log: Log = new MemoryLog(), at = NOON) {
  const clock = new FakeClock(at);
  const agent = new ResumingPuppet();
  const host = await startHost({ log, clock, agents: [agent] });
  const client = await nativeClient(host, 'desk');
  const { uri, chat } = await nativeSession(client, { provider: 'puppet', workingDirectories: ['file:///tmp'] });
  return { clock, agent, host, client, uri, chat, log };
}

type Opened = Awaited<ReturnType<typeof open>>;

/** Runs a turn that reports these, one after the other. */
async function turn(
  { client, agent, chat, clock }: Pick<Opened, 'client' | 'agent' | 'chat' | 'clock'>,
  ...reports: UsageInfo[]
) {
  const turnId = `t-${crypto.randomUUID()}`;
  const at = agent.turns.length;
  client.dispatch(chat, { type: 'chat/turnStarted', turnId, message: userMessage('go') } as never);
  const puppet = await agent.turn(at);
  for (const report of reports) puppet.turn.usage(report);
  await settle();
  await clock.advance(2_000);
  puppet.finish();
  await client.action(chat, (action) => action.type === 'chat/turnComplete' && String(action.turnId) === turnId);
  return turnId;
}

const ask = (client: RawClient, params: object = {}) => client.request<UsageReport>('atrium/usage', params);

describe('usage', () => {
  it('[DAY-040] counts the difference of reports, per day, project, agent, model and session', async () => {
    const opened = await open();
    const { client, uri, clock } = opened;
    await turn(
      opened,
      usageOf(100, 10),
      usageOf(300, 30, { _meta: { cacheWriteTokens: 20, reasoningTokens: 5, requests: 3 } }),
    );
    await clock.advance(DAY_MS);
    await turn(opened, usageOf(1_000, 50));
    const byDay = await ask(client);
    expect(byDay.entries.map(({ key, input, output, turns }) => [key, input, output, turns])).toEqual([
      ['2026-11-18', 300, 30, 1],
      ['2026-11-19', 1_000, 50, 1],
    ]);
    const sum = {
      input: 1_300,
      cacheRead: 650,
      cacheWrite: 20,
      output: 80,
      reasoning: 5,
      requests: 3,
      turns: 2,
      milliseconds: 4_000,
    };
    expect(byDay.total).toMatchObject(sum);
    for (const [by, key] of [
      ['project', 'file:///tmp'],
      ['agent', 'puppet'],
      ['model', MODEL],
      ['session', uri],
    ]) {
      const { entries } = await ask(client, { by });
      expect(entries).toEqual([expect.objectContaining({ ...sum, key })]);
    }
    expect((await ask(client, { by: 'model', session: uri })).total).toMatchObject(sum);
    expect((await ask(client, { by: 'day', days: 1 })).total).toMatchObject({ input: 1_000 });
    expect((await client.ask('atrium/usage', { by: 'moon' })).error?.message).toContain('"by" must be one of day');
  });

  it('[DAY-040] is stored with the very commit that stores the report, and undone with it', async () => {
    const commits: Commit[] = [];
    const inner = new (class extends MemoryLog {
      override append(commit: Commit) {
        commits.push(commit);
        return super.append(commit);
      }
    })();
    const log = failingLog(inner);
    const opened = await open(log);
    const { client, agent, chat } = opened;
    client.dispatch(chat, { type: 'chat/turnStarted', turnId: 't1', message: userMessage('go') } as never);
    const puppet = await agent.turn(0);
    puppet.turn.usage(usageOf(100, 10));
    await settle();
    const withUsage = commits.filter(({ entries }) => entries.some(({ action }) => action.includes('"chat/usage"')));
    expect(withUsage).toHaveLength(1);
    const kinds = withUsage[0]?.records?.map(({ key }) => key.split(':').slice(0, 2).join(':')).sort();
    expect(kinds).toEqual(['usage:day', 'usage:project', 'usage:session']);
    log.failNext();
    puppet.turn.usage(usageOf(700, 70));
    await settle();
    expect((await ask(client)).total).toMatchObject({ input: 100, output: 10 });
    await opened.clock.advance(5_000);
    // The turn failed with the commit. The next one counts from what is stored.
    await turn(opened, usageOf(1, 1));
    expect((await ask(client)).total).toMatchObject({ input: 101, output: 11 });
  });

  it('[DAY-040] goes on where it was after the host died, and counts a turn that goes on once', async () => {
    const log = new MemoryLog();
    const agent = new ResumingPuppet();
    const clock = new FakeClock(NOON);
    const first: TestHost = await startTestHost({ log, clock, agents: [agent] });
    const desk = await nativeClient(first, 'desk');
    const { uri, chat } = await nativeSession(desk, { provider: 'puppet' });
    desk.dispatch(chat, { type: 'chat/turnStarted', turnId: 't1', message: userMessage('go') } as never);
    (await agent.turn(0)).turn.usage(usageOf(100, 10));
    await settle();
    // The first host is never stopped: it is as if it had been killed.
    const next = new ResumingPuppet();
    await clock.advance(60_000);
    const host = await startHost({ log, clock, agents: [next] });
    const client = await nativeClient(host, 'desk-2', { initialSubscriptions: [uri, chat] });
    await settle();
    const resume = { type: 'chat/turnResume', turnId: 't1' };
    expect(await refusalOf(client, chat, resume)).toBeUndefined();
    const puppet = await next.turn(0);
    // An agent that is given a turn again counts from zero.
    puppet.turn.usage(usageOf(40, 4));
    puppet.finish();
    const { action } = await client.action(chat, 'chat/usage');
    expect(action.usage).toMatchObject({ inputTokens: 140, outputTokens: 14 });
    await client.action(chat, 'chat/turnComplete');
    expect((await ask(client, { by: 'session' })).entries).toMatchObject([
      { key: uri, input: 140, output: 14, turns: 1 },
    ]);
  });

  it('[DAY-040] counts nothing again for a fork, keeps what a deleted session used, and bounds its rows', async () => {
    const opened = await open();
    const { client, uri, chat, log } = opened;
    const turnId = await turn(opened, usageOf(100, 10));
    await client.request('createSession', {
      channel: 'ahp-session:/forked',
      provider: 'puppet',
      fork: { session: uri, turnId },
    });
    await client.request('disposeSession', { channel: uri });
    expect(chat).toBeTruthy();
    const { total } = await ask(client);
    expect(total).toMatchObject({ input: 100, output: 10, turns: 1 });
    const second = { ...opened, ...(await nativeSession(client, { provider: 'puppet' })) };
    const many = Array.from({ length: ACCOUNT_ROWS_MAX + 20 }, (_, i) =>
      usageOf(200 + i, 10, { cacheReadTokens: 0, model: `m-${i}` }),
    );
    await turn(second, ...many);
    const rows = await log.records('usage:day:');
    expect(rows.length).toBeLessThanOrEqual(ACCOUNT_ROWS_MAX + 1);
    expect(rows.reduce((sum, { value }) => sum + (rowIn(value)?.input ?? 0), 0)).toBe(
      100 + 200 + ACCOUNT_ROWS_MAX + 19,
    );
  });

  it('[DAY-040] forgets days that are too long ago, and nothing else', async () => {
    const opened = await open();
    await turn(opened, usageOf(100, 10));
    const next = await open(opened.log, NOON + 402 * DAY_MS);
    await turn(next, usageOf(8, 1));
    await settle();
    const days = (await next.log.records('usage:day:')).map(({ key }) => key.split(':')[2]);
    expect(days).not.toContain('2026-11-18');
    expect((await ask(next.client, { by: 'session' })).total).toMatchObject({ input: 108 });
  });
});

describe('what agents report', () => {
  it('[DAY-040] of counts that grow over a session of the agent, a turn gets the difference', () => {
    let stored: unknown = { sessionId: 's' };
    const set = (value: unknown) => {
      stored = value;
    };
    const memory = { get: () => stored, set };
    const used = (usage: object, cost?: number) => {
      const turn = new FakeTurn('go');
      // As after a restart: everything that is known is in the memory.
      const counter = new AcpUsage(memory);
      counter.begin(turn);
      if (cost !== undefined) counter.updated({ used: 500, size: 1_000, cost: { amount: cost, currency: 'USD' } });
      counter.ended(usage as Record<string, unknown>);
      return turn.events.flatMap((event) => ('usage' in event ? [event.usage] : [])).at(-1);
    };
    expect(used({ totalTokens: 115, inputTokens: 100, outputTokens: 10, thoughtTokens: 5 }, 0.5)).toMatchObject({
      inputTokens: 100,
      outputTokens: 10,
      _meta: { reasoningTokens: 5, contextTokens: 500, costUsd: 0.5 },
    });
    expect(used({ totalTokens: 300, inputTokens: 260, outputTokens: 30, thoughtTokens: 5 }, 0.75)).toMatchObject({
      inputTokens: 160,
      outputTokens: 20,
      _meta: { costUsd: 0.25 },
    });
    // A count that falls began anew with the turn, and so will the next.
    expect(used({ totalTokens: 60, inputTokens: 10, outputTokens: 20, cachedReadTokens: 30 })).toMatchObject({
      inputTokens: 40,
      cacheReadTokens: 30,
    });
    expect(used({ totalTokens: 999, inputTokens: 990, outputTokens: 21 })).toMatchObject({ inputTokens: 990 });
    expect(stored).toMatchObject({ sessionId: 's' });
  });

  it('[DAY-040] counts requests that were tried again, and what an answer used that broke off', async () => {
    const answers = [
      (response: ServerResponse) => response.writeHead(503, { 'retry-after-ms': '1' }).end(),
      (response: ServerResponse) => {
        const usage = { prompt_tokens: 50, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 20 } };
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(`data: ${JSON.stringify({ choices: [{ delta: { content: 'half' } }], usage })}\n\n`);
        setImmediate(() => response.destroy());
      },
    ];
    const server = createServer((_request, response) => answers.shift()?.(response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const options = { provider: 'm', displayName: 'M', models: [{ id: 'm-1', name: 'M' }], retries: 1 };
    const agent = modelAgent({ ...options, kind: 'openai-compatible', baseURL });
    const turn = new FakeTurn('go');
    await expect(runTurn(agent, turn)).rejects.toThrow();
    expect(turn.events.flatMap((event) => ('usage' in event ? [event.usage] : []))).toEqual([
      {
        ...{ inputTokens: 50, outputTokens: 5, cacheReadTokens: 20, model: 'm-1' },
        _meta: { reasoningTokens: 0, contextTokens: 55, requests: 2 },
      },
    ]);
  });

  it('[DAY-040] of Claude, a step counts once, with its cache; a sub-agent by its own model; a subscription as flat', () => {
    const turn = new FakeTurn('go');
    const used = new ClaudeUsage(turn, 'claude-opus-4-5', () => true);
    used.begun('1', {
      input_tokens: 10,
      cache_read_input_tokens: 100,
      cache_creation_input_tokens: 5,
      output_tokens: 1,
    });
    used.counted('1', { output_tokens: 20 });
    used.retried();
    const message = { id: '2', model: 'claude-haiku-4-5', usage: { input_tokens: 7, output_tokens: 3 } };
    for (let times = 0; times < 3; times++) used.took({ type: 'assistant', message });
    expect(turn.events.at(-1)).toEqual({
      usage: {
        ...{ inputTokens: 122, outputTokens: 23, cacheReadTokens: 100, model: 'claude-haiku-4-5' },
        _meta: { contextTokens: 10, cacheWriteTokens: 5, requests: 3, plan: 'flat' },
      },
    });
  });
});

describe('prices', () => {
  const row = {
    project: '',
    agent: 'a',
    model: MODEL,
    input: 1_000_000,
    cacheRead: 400_000,
    cacheWrite: 100_000,
    output: 100_000,
    reasoning: 0,
    requests: 1,
    turns: 1,
    milliseconds: 1,
    costUsd: 0,
  };

  it('[DAY-041] are a dated list, and cost by kind of token', () => {
    expect(PRICES_DATE).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    expect(PRICES_SOURCE).not.toBe('');
    for (const { input, output } of Object.values(PRICES)) expect(output).toBeGreaterThan(input);
    // 500,000 plain, 400,000 cached, 100,000 written, 100,000 out.
    expect(new PriceList().costOf(row)).toBeCloseTo(1.5 + 0.12 + 0.375 + 1.5, 10);
  });

  it('[DAY-041] are none for an unknown model or a flat plan, and can be replaced', () => {
    expect(new PriceList().costOf({ ...row, model: 'claude-sonnet-4-5-turbo' })).toBeUndefined();
    expect(new PriceList().costOf({ ...row, plan: 'flat' })).toBeUndefined();
    expect(new PriceList({ flatPlans: ['a'] }).costOf(row)).toBeUndefined();
    expect(new PriceList().costOf({ ...row, model: 'own', costUsd: 2 })).toBe(2);
    const own = new PriceList({ prices: { 'claude-sonnet-4-5': { input: 1, output: 0 } } });
    expect(own.costOf(row)).toBe(1);
    expect(own.origin.own).toEqual(['claude-sonnet-4-5']);
  });

  it('[DAY-041] give money where they are known, and say how many tokens are not in it', async () => {
    const opened = await open();
    await turn(opened, usageOf(1_000_000, 0, { cacheReadTokens: 0 }));
    await turn(opened, usageOf(500, 0, { cacheReadTokens: 0, _meta: { plan: 'flat' } }));
    const { total } = await ask(opened.client);
    expect(total).toMatchObject({ cost: 3, unpricedTokens: 500, input: 1_000_500 });
  });
});
