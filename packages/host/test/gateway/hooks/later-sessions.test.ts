import { expect, it } from 'vitest';
import { openFixture, turnStarted } from '../../support/session-fixture.js';
import { settle } from '../../support/test-host.js';
import { TestProvider } from '../../support/test-provider.js';

const TOOL = { name: 'ci_status', description: 'Tells how CI is doing.', parameters: {} };
const GATE = { match: { tool: 'ci_status' }, action: 'gate', gateId: 'g' };

it('[GW-202] a gate of a provider that is everywhere holds no call of a later session before session.ready', async () => {
  const fixture = await openFixture({ session: { provider: 'puppet' } });
  const guard = await TestProvider.bound(fixture.host, {
    name: 'guard',
    session: 'all',
    hooks: { onPreToolUse: [GATE] },
  });
  const later = await fixture.client.session('ahp-session:/later', { provider: 'puppet' });
  const owner = await TestProvider.bound(fixture.host, { session: 'later', tools: [TOOL] });
  fixture.client.dispatch(later, turnStarted('t1'));
  const { turn } = await fixture.agent.turn(0);
  const before = turn.callTool({ name: 'ci_status', input: {} });
  owner.send({ type: 'tool.result', id: (await owner.next('tool.call')).id, data: 'green' });
  expect(await before).toMatchObject({ kind: 'completed', text: 'green' });
  expect(guard.of('gate.check')).toEqual([]);
  guard.send({ type: 'session.ready', sessionId: 'later' });
  await settle();
  const after = turn.callTool({ name: 'ci_status', input: {} });
  const { gateId, callId } = await guard.next('gate.check');
  guard.send({ type: 'gate.result', gateId, callId, decision: 'deny', reason: 'not today' });
  expect(await after).toEqual({ kind: 'denied', reason: 'guard: not today' });
  expect(owner.of('tool.call')).toHaveLength(1);
});
