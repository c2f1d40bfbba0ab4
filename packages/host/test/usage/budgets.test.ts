/** Budgets: a turn waits for a person, and never in the middle of something. */
import type { Log } from '@atrium/core/log/log.js';
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import type { BudgetEntry, ChatState, SessionState, UsageLimit } from '@atrium/protocol/ahp-1';
import { describe, expect, it, vi } from 'vitest';
import { FakeClock } from '../support/fake-clock.js';
import { chatState, nativeClient, nativeSession, userMessage } from '../support/native-client.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { startHost } from '../support/session-fixture.js';
import { type RawClient, settle } from '../support/test-host.js';
import { echoTool } from '../support/tools.js';

const NOON = new Date(2026, 10, 18, 12).getTime();

async function open(budgets: Partial<Record<'day' | 'session' | 'project', UsageLimit>>, log: Log = new MemoryLog()) {
  const clock = new FakeClock(NOON);
  const agent = new PuppetAgent();
  const host = await startHost({ log, clock, agents: [agent], tools: [echoTool('echo')], usage: { budgets } });
  const client = await nativeClient(host, 'desk');
  const session = await nativeSession(client, { provider: 'puppet' });
  return { clock, agent, host, client, log, ...session };
}

function begin(client: RawClient, chat: string, turnId: string): void {
  client.dispatch(chat, { type: 'chat/turnStarted', turnId, message: userMessage('go') } as never);
}

/** The one question that stands in a session, as soon as it is there. */
async function question(client: RawClient, uri: string) {
  return vi.waitFor(async () => {
    const { inputNeeded = [] } = await client.state<SessionState>(uri);
    const [entry] = inputNeeded;
    if (entry?.kind !== 'chatInput') throw new Error('nothing is asked');
    return entry.request;
  }, 10_000);
}

function answer(client: RawClient, chat: string, requestId: string, value: 'more' | 'stop'): void {
  const answers = { budget: { state: 'submitted', value: { kind: 'selected', value } } };
  client.dispatch(chat, { type: 'chat/inputCompleted', requestId, response: 'accept', answers } as never);
}

const notes = ({ turns, activeTurn }: ChatState) =>
  [...turns, ...(activeTurn ? [activeTurn] : [])].flatMap(({ responseParts }) =>
    responseParts.flatMap((part) => (part.kind === 'systemNotification' ? [String(part.content)] : [])),
  );

describe('a budget', () => {
  it('[DAY-042] is told at 80 %, holds the next call at 100 %, and goes on with half as much again', async () => {
    const { client, agent, uri, chat } = await open({ session: { tokens: 1_000 } });
    begin(client, chat, 't1');
    const { turn, finish } = await agent.turn(0);
    const running = turn.agentRunCall({ name: 'own', displayName: 'Own' });
    await running.check({}, 'Working');
    turn.usage({ inputTokens: 700 });
    turn.usage({ inputTokens: 850 });
    turn.usage({ inputTokens: 900 });
    await settle();
    expect(notes(await chatState(client, chat))).toEqual([
      '85 % of the budget of this session is used: 850 of 1,000 tokens.',
    ]);
    turn.usage({ inputTokens: 1_100 });
    // What runs is not cut off.
    expect(await running.complete({ success: true, pastTenseMessage: 'Worked' })).toMatchObject({ success: true });
    const called = turn.callTool({ name: 'echo', input: { text: 'hi' } });
    const asked = await question(client, uri);
    expect(asked.message).toContain('The budget of this session is used up: 1,100 of 1,000 tokens');
    expect((await chatState(client, chat)).activeTurn).toBeDefined();
    answer(client, chat, asked.id, 'more');
    expect(await called).toMatchObject({ kind: 'completed' });
    const { items } = await client.request<{ items: BudgetEntry[] }>('atrium/budgets', { session: uri });
    expect(items).toMatchObject([
      { scope: 'session', limit: { tokens: 1_650 }, set: { tokens: 1_000 }, spent: { tokens: 1_100 } },
    ]);
    finish();
    await client.action(chat, 'chat/turnComplete');
  });

  it('[DAY-042] that is used up stops the turn when a person says so, also over an older wire', async () => {
    const { client, agent, host, uri, chat } = await open({ day: { money: 1 } });
    begin(client, chat, 't1');
    const { turn } = await agent.turn(0);
    turn.usage({ inputTokens: 1_000_000, model: 'claude-sonnet-4-5' });
    const held = turn.nextStep();
    expect((await question(client, uri)).message).toContain("Today's budget is used up: $3.00 of $1.00");
    const older = await host.client('older');
    const { inputRequests = [] } = await older.state<{ inputRequests?: { id: string }[] }>(uri);
    expect(inputRequests).toHaveLength(1);
    const requestId = inputRequests[0]?.id;
    older.dispatch(uri, { type: 'session/inputCompleted', requestId, response: 'decline' } as never);
    await expect(held).rejects.toThrow();
    const { turns } = await chatState(client, chat);
    expect(turns).toMatchObject([{ state: 'cancelled' }]);
    expect((await client.state<SessionState>(uri)).inputNeeded ?? []).toEqual([]);
  });

  it('[DAY-042] counts over restarts, asks before a turn begins, and one answer counts for every session', async () => {
    const first = await open({ day: { tokens: 100 } });
    begin(first.client, first.chat, 't1');
    (await first.agent.turn(0)).turn.usage({ inputTokens: 150 });
    await settle();
    // Never stopped: as if it had been killed.
    const next = await open({ day: { tokens: 100 } }, first.log);
    const other = await nativeSession(next.client, { provider: 'puppet' });
    begin(next.client, next.chat, 't2');
    begin(next.client, other.chat, 't3');
    const asked = await question(next.client, next.uri);
    await question(next.client, other.uri);
    expect(next.agent.turns).toHaveLength(0);
    answer(next.client, next.chat, asked.id, 'more');
    await next.agent.turn(1);
    const asks = async ({ uri }: { uri: string }) => (await next.client.state<SessionState>(uri)).inputNeeded ?? [];
    await vi.waitFor(async () => expect([...(await asks(next)), ...(await asks(other))]).toEqual([]), 10_000);
    const third = await open({ day: { tokens: 100 } }, first.log);
    const { items } = await third.client.request<{ items: BudgetEntry[] }>('atrium/budgets', { session: third.uri });
    expect(items).toMatchObject([{ scope: 'day', name: '2026-11-18', limit: { tokens: 225 }, spent: { tokens: 150 } }]);
  });

  it('[DAY-042] is set and removed by people, and one that is cancelled takes its question with it', async () => {
    const { client, agent, uri, chat } = await open({});
    await client.request('atrium/setBudget', { scope: 'project', session: uri, tokens: 10 });
    expect((await client.ask('atrium/setBudget', { scope: 'day', tokens: -1 })).error?.message).toContain('"tokens"');
    begin(client, chat, 't1');
    const { turn } = await agent.turn(0);
    turn.usage({ outputTokens: 10 });
    const held = turn.nextStep()?.catch(() => 'over');
    await question(client, uri);
    client.dispatch(chat, { type: 'chat/turnCancelled', turnId: 't1', duration: 1 } as never);
    expect(await held).toBe('over');
    await vi.waitFor(async () => expect((await client.state<SessionState>(uri)).inputNeeded ?? []).toEqual([]), 10_000);
    await client.request('atrium/setBudget', { scope: 'project', session: uri });
    begin(client, chat, 't2');
    await agent.turn(1);
  });
});
