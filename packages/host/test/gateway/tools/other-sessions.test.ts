import { expect, it } from 'vitest';
import { openFixture, turnStarted } from '../../support/session-fixture.js';
import { TestProvider } from '../../support/test-provider.js';

const TOOL = { name: 'ci_status', description: 'Tells how CI is doing.', parameters: {} };

it('[GW-013] a call in one session goes on when the session that came first has ended', async () => {
  const fixture = await openFixture({ session: { provider: 'puppet' } });
  const second = await fixture.client.session('ahp-session:/second', { provider: 'puppet' });
  const provider = await TestProvider.bound(fixture.host, { session: 'second', tools: [TOOL] });
  fixture.client.dispatch(second, turnStarted('t1'));
  const outcome = (await fixture.agent.turn(0)).turn.callTool({ name: 'ci_status', input: {} });
  const call = await provider.next('tool.call');
  await fixture.client.request('disposeSession', { channel: fixture.uri });
  expect((await provider.next('sessions.updated')).active.map(({ id }) => id)).toEqual(['second']);
  provider.send({ type: 'tool.result', id: call.id, data: 'green' });
  expect(await outcome).toMatchObject({ kind: 'completed', success: true, text: 'green' });
});
