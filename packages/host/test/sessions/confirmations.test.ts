import type { ToolConfirmation } from '@atrium/core/contracts/tool.js';
import type { StateAction } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import {
  callsIn,
  openPuppetFixture,
  refusalOf,
  runningCall,
  stateOf,
  turnStarted,
} from '../support/session-fixture.js';
import { settle } from '../support/test-host.js';
import { echoTool } from '../support/tools.js';

const target = { turnId: 't1', toolCallId: 'c1' };
const approve = (more: object = {}): StateAction => ({
  type: 'session/toolCallConfirmed',
  ...target,
  approved: true,
  confirmed: 'user-action',
  ...more,
});
const deny = (more: object = {}): StateAction => ({
  type: 'session/toolCallConfirmed',
  ...target,
  approved: false,
  reason: 'denied',
  ...more,
});

const OPTIONS: ToolConfirmation['options'] = [
  { id: 'once', label: 'Once', kind: 'approve' },
  { id: 'allow-session', label: 'Always', kind: 'approve' },
  { id: 'no', label: 'No', kind: 'deny' },
];

/** A turn that has asked to run a tool, which waits for a person. */
async function askedFixture(confirmation: ToolConfirmation = { title: 'Run it?' }, session: object = {}) {
  const tool = echoTool('write', { confirmation });
  const fixture = await openPuppetFixture({ tools: [tool], session });
  const outcome = fixture.puppet.turn.callTool({ id: 'c1', name: 'write', input: { path: 'a' } });
  outcome.catch(() => {});
  await fixture.client.action(fixture.uri, 'session/toolCallReady');
  return { ...fixture, tool, outcome };
}

describe('a tool that asks first', () => {
  it('waits for a person, and shows what it would do', async () => {
    const { client, uri, tool } = await askedFixture({ title: 'Run it?', editable: true, options: OPTIONS });
    const call = await runningCall(client, uri, 'pending-confirmation');
    expect(call).toMatchObject({
      toolName: 'write',
      toolInput: '{"path":"a"}',
      confirmationTitle: 'Run it?',
      editable: true,
      options: OPTIONS,
    });
    expect((await stateOf(client, uri)).summary.status & 31).toBe(24);
    expect(tool.runs).toEqual([]);
  });

  it('[AHP-147] runs when a person agrees, whoever that is', async () => {
    const { uri, tool, outcome, join } = await askedFixture();
    const phone = await join('phone');
    expect(await refusalOf(phone, uri, approve())).toBeUndefined();
    expect(await outcome).toMatchObject({ kind: 'completed', success: true, text: '{"path":"a"}' });
    expect(tool.runs).toEqual([{ path: 'a' }]);
    expect((await stateOf(phone, uri)).summary.status & 31).toBe(8);
  });

  it('[AHP-147] does not run when a person says no, and the agent hears why', async () => {
    const { client, uri, tool, outcome } = await askedFixture();
    await refusalOf(client, uri, deny({ userSuggestion: { text: 'use b instead' } }));
    expect(await outcome).toEqual({ kind: 'denied', reason: 'use b instead' });
    expect(tool.runs).toEqual([]);
    const [call] = callsIn((await stateOf(client, uri)).activeTurn?.responseParts);
    expect(call).toMatchObject({ status: 'cancelled', reason: 'denied', userSuggestion: { text: 'use b instead' } });
  });

  it.each<[string, object, string]>([
    ['a message', { reasonMessage: 'not today' }, 'not today'],
    ['a message in markdown', { reasonMessage: { markdown: '*not* today' } }, '*not* today'],
    ['nothing', {}, 'the person said no'],
  ])('[AHP-147] gives the agent %s as the reason', async (_what, more, reason) => {
    const { client, uri, outcome } = await askedFixture();
    await refusalOf(client, uri, deny(more));
    expect(await outcome).toEqual({ kind: 'denied', reason });
  });

  it('runs with the input that a person corrected', async () => {
    const { client, uri, tool, outcome } = await askedFixture({ title: 'Run it?', editable: true });
    expect(await refusalOf(client, uri, approve({ editedToolInput: '{"path":"b"}' }))).toBeUndefined();
    await outcome;
    expect(tool.runs).toEqual([{ path: 'b' }]);
    const [call] = callsIn((await stateOf(client, uri)).activeTurn?.responseParts);
    expect(call).toMatchObject({ status: 'completed', toolInput: '{"path":"b"}' });
  });

  it('asks again the next time when it was allowed once', async () => {
    const { client, uri, puppet, outcome } = await askedFixture({ title: 'Run it?', options: OPTIONS });
    await refusalOf(client, uri, approve({ selectedOptionId: 'once' }));
    await outcome;
    puppet.turn.callTool({ id: 'c2', name: 'write', input: {} }).catch(() => {});
    await client.action(
      uri,
      (action) => action.type === 'session/toolCallReady' && action.toolCallId === ('c2' as never),
    );
    const [, second] = callsIn((await stateOf(client, uri)).activeTurn?.responseParts);
    expect(second?.status).toBe('pending-confirmation');
  });

  it('asks no more in this session when that was chosen, not even in later turns, but in other sessions', async () => {
    const { client, uri, puppet, outcome, agent, tool } = await askedFixture({ title: 'Run it?', options: OPTIONS });
    await refusalOf(client, uri, approve({ selectedOptionId: 'allow-session' }));
    await outcome;
    puppet.finish();
    await client.action(uri, 'session/turnComplete');
    client.dispatch(uri, turnStarted('t2'));
    await (await agent.turn(1)).turn.callTool({ id: 'c2', name: 'write', input: { path: 'b' } });
    const [call] = callsIn((await stateOf(client, uri)).activeTurn?.responseParts);
    expect(call).toMatchObject({ status: 'completed', confirmed: 'setting' });
    expect(tool.runs).toEqual([{ path: 'a' }, { path: 'b' }]);

    const other = await client.session(undefined, { provider: 'puppet' });
    client.dispatch(other, turnStarted('t1'));
    (await agent.turn(2)).turn.callTool({ name: 'write', input: {} }).catch(() => {});
    await runningCall(client, other, 'pending-confirmation');
  });

  it('does not ask at all in a session that is configured so, from the moment it is', async () => {
    const tool = echoTool('write', { confirmation: { title: 'Run it?' } });
    const { client, uri, puppet } = await openPuppetFixture({
      tools: [tool],
      session: { config: { autoApprove: true } },
    });
    expect(await puppet.turn.callTool({ name: 'write', input: {} })).toMatchObject({ kind: 'completed' });
    await refusalOf(client, uri, { type: 'session/configChanged', config: { autoApprove: false } });
    puppet.turn.callTool({ id: 'c2', name: 'write', input: {} }).catch(() => {});
    await settle();
    const [first, second] = callsIn((await stateOf(client, uri)).activeTurn?.responseParts);
    expect(first).toMatchObject({ confirmed: 'setting' });
    expect(second?.status).toBe('pending-confirmation');
  });

  it('may be skipped by a person, and the agent hears that, not that it was refused', async () => {
    const { client, uri, tool, outcome } = await askedFixture();
    await refusalOf(client, uri, { ...deny(), reason: 'skipped' } as StateAction);
    expect(await outcome).toEqual({ kind: 'denied', reason: 'the person skipped it' });
    expect(tool.runs).toEqual([]);
  });

  it('is skipped when the turn ends first, and never runs', async () => {
    const { client, uri, tool, outcome } = await askedFixture();
    await refusalOf(client, uri, { type: 'session/turnCancelled', turnId: 't1' });
    await expect(outcome).rejects.toMatchObject({ name: 'AbortError' });
    expect(tool.runs).toEqual([]);
    const [call] = callsIn((await stateOf(client, uri)).turns[0]?.responseParts);
    expect(call).toMatchObject({ status: 'cancelled', reason: 'skipped' });
    expect(await refusalOf(client, uri, approve())).toContain('c1');
  });
});

describe('who may answer', () => {
  it('[AHP-122] only a call that waits can be answered', async () => {
    const { client, uri, outcome } = await askedFixture();
    expect(await refusalOf(client, uri, approve({ toolCallId: 'nowhere' }))).toContain('nowhere');
    expect(await refusalOf(client, uri, approve({ turnId: 't0' }))).toContain('c1');
    expect(await refusalOf(client, uri, approve())).toBeUndefined();
    await outcome;
    expect(await refusalOf(client, uri, approve())).toContain('completed');
    expect(await refusalOf(client, uri, deny())).toContain('completed');
  });

  it.each<[string, StateAction, StateAction, number]>([
    ['yes before no', approve(), deny(), 1],
    ['no before yes', deny(), approve(), 0],
    ['yes twice', approve(), approve(), 1],
  ])('[AHP-122] [REL-021] the first of two answers in the same tick counts: %s', async (_what, first, second, runs) => {
    const { client, uri, tool, join } = await askedFixture();
    const phone = await join('phone');
    const reasons = await Promise.all([refusalOf(client, uri, first), refusalOf(phone, uri, second)]);
    expect(reasons).toEqual([undefined, expect.stringContaining('somebody answered already')]);
    await settle();
    expect(tool.runs).toHaveLength(runs);
    expect(client.envelopes(uri).filter(({ action }) => action.type === 'session/toolCallConfirmed')).toHaveLength(1);
  });

  it('[AHP-127] input can be corrected only where the call says so', async () => {
    const { client, uri, tool } = await askedFixture();
    expect(await refusalOf(client, uri, approve({ editedToolInput: '{}' }))).toContain('edited');
    await runningCall(client, uri, 'pending-confirmation');
    expect(tool.runs).toEqual([]);
  });

  it('[AHP-128] an option must be one that was offered, and mean what the answer says', async () => {
    const { client, uri } = await askedFixture({ title: 'Run it?', options: OPTIONS });
    expect(await refusalOf(client, uri, approve({ selectedOptionId: 'maybe' }))).toContain('maybe');
    expect(await refusalOf(client, uri, approve({ selectedOptionId: 'no' }))).toContain('deny');
    expect(await refusalOf(client, uri, deny({ selectedOptionId: 'once' }))).toContain('approve');
    expect(await refusalOf(client, uri, deny({ selectedOptionId: 'no' }))).toBeUndefined();
    const [call] = callsIn((await stateOf(client, uri)).activeTurn?.responseParts);
    expect(call).toMatchObject({ status: 'cancelled', selectedOption: { id: 'no' } });
  });
});
