/** The agent's list of tasks is state of the session. */
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import { PLAN_ITEM_MAX_CHARACTERS, PLAN_ITEMS_MAX, PLAN_LISTS_MAX } from '@atrium/core/sessions/limits.js';
import { withIds } from '@atrium/core/sessions/plans.js';
import { planLists, planOf, type SessionState, type SessionSummary, summaryProgress } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { AcpTurn } from '../../../agents/src/acp/events.js';
import { AcpUsage } from '../../../agents/src/acp/usage.js';
import { tasksIn, tasksInMarkdown } from '../../../agents/src/shared/plans.js';
import { todoListTool } from '../../src/workspace/tools/todo-list.js';
import { FakeTurn } from '../support/fake-turn.js';
import { nativeClient, nativeSession, userMessage } from '../support/native-client.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { startHost } from '../support/session-fixture.js';
import { type RawClient, settle } from '../support/test-host.js';

const task = (text: string, status: 'pending' | 'active' | 'done' = 'pending') => ({ text, status });

async function open(log = new MemoryLog()) {
  const agent = new PuppetAgent();
  const host = await startHost({ log, agents: [agent], tools: [todoListTool] });
  const client = await nativeClient(host, 'desk');
  return { agent, host, client, log };
}

async function turnIn({ client, agent }: { client: RawClient; agent: PuppetAgent }, chat: string, turnId: string) {
  const at = agent.turns.length;
  client.dispatch(chat, { type: 'chat/turnStarted', turnId, message: userMessage('go') } as never);
  return agent.turn(at);
}

describe('the list of tasks', () => {
  it('[DAY-050] is in the session, its progress in the list of sessions, and both outlive the host', async () => {
    const opened = await open();
    const { client, log } = opened;
    const { uri, chat } = await nativeSession(client, { provider: 'puppet' });
    const { turn, finish } = await turnIn(opened, chat, 't1');
    const items = ['[x] Read the code', '[>] Change it', 'Test it'];
    expect(await turn.callTool({ name: 'todo_list', input: { items } })).toMatchObject({ success: true });
    turn.plan([task('Read the code', 'done'), task('Change it', 'done'), task('Test it', 'active'), task('Tell')]);
    finish();
    await client.action(chat, 'chat/turnComplete');
    const { _meta } = await client.state<SessionState>(uri);
    expect(planOf(_meta, chat)).toEqual([
      { id: 't1', text: 'Read the code', status: 'done' },
      { id: 't2', text: 'Change it', status: 'done' },
      { id: 't3', text: 'Test it', status: 'active' },
      { id: 't4', text: 'Tell', status: 'pending' },
    ]);
    // Never stopped: as if it had been killed.
    const next = await open(log);
    const { items: listed } = await next.client.request<{ items: SessionSummary[] }>('listSessions', {
      channel: 'ahp-root://',
    });
    expect(summaryProgress(listed[0]?._meta)).toEqual({ done: 2, total: 4, active: 'Test it' });
    const again = await next.client.state<SessionState>(uri);
    expect(planOf(again._meta, chat)).toHaveLength(4);
    // Cutting the turn that made it takes it away.
    next.client.dispatch(chat, { type: 'chat/truncated' } as never);
    await next.client.action(uri, 'session/metaChanged');
    expect(planLists((await next.client.state<SessionState>(uri))._meta)).toEqual([]);
  });

  it('[DAY-050] keeps the ids of items over updates, and is bounded', async () => {
    const before = withIds([task('a'), task('b'), task('c')], []);
    expect(before.map(({ id }) => id)).toEqual(['t1', 't2', 't3']);
    const ids = (...tasks: string[]) =>
      withIds(
        tasks.map((text) => task(text)),
        before,
      ).map(({ id }) => id);
    expect(ids('c', 'a', 'b')).toEqual(['t3', 't1', 't2']);
    expect(ids('a', 'b, but better', 'c')).toEqual(['t1', 't2', 't3']);
    expect(ids('new', 'a', 'b', 'c')).toEqual(['t4', 't1', 't2', 't3']);
    expect(ids('a', 'b', 'c', 'd')).toEqual(['t1', 't2', 't3', 't4']);
    expect(ids('b', 'b')).toEqual(['t2', 't3']);
    const opened = await open();
    const { client } = opened;
    const { uri, chat } = await nativeSession(client, { provider: 'puppet' });
    const { turn } = await turnIn(opened, chat, 't1');
    turn.plan(Array.from({ length: PLAN_ITEMS_MAX + 5 }, (_, index) => task(`${index} ${'x'.repeat(1_000)}`)));
    await settle();
    const items = planOf((await client.state<SessionState>(uri))._meta, chat);
    expect(items).toHaveLength(PLAN_ITEMS_MAX);
    expect(Math.max(...items.map(({ text }) => text.length))).toBeLessThanOrEqual(PLAN_ITEM_MAX_CHARACTERS);
    expect(PLAN_LISTS_MAX).toBeGreaterThan(1);
    turn.plan([]);
    await settle();
    expect(planLists((await client.state<SessionState>(uri))._meta)).toEqual([]);
  });

  it('[DAY-050] comes from every kind of agent', () => {
    const turn = new FakeTurn('go');
    const entries = [
      { content: 'Look', priority: 'high', status: 'completed' },
      { content: 'Leap', priority: 'low', status: 'in_progress' },
      { content: 'Land' },
    ];
    new AcpTurn(turn, new AcpUsage({ get: () => undefined, set: () => {} })).update({ sessionUpdate: 'plan', entries });
    const expected = [task('Look', 'done'), task('Leap', 'active'), task('Land')];
    expect(turn.events).toContainEqual({ plan: expected });
    expect(tasksIn(entries)).toEqual(expected);
    expect(tasksInMarkdown('# Plan\n- [x] Look\n* [~] Leap\n1. [ ] Land\nand more')).toEqual(expected);
    expect([tasksIn('no list'), tasksInMarkdown('no boxes'), tasksInMarkdown(7)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});
