import { expect, it } from 'vitest';
import { openRoom, turnStarted } from '../../support/session-room.js';
import { TestProvider } from '../../support/test-provider.js';

const TOOL = { name: 'ci_status', description: 'Tells how CI is doing.', parameters: {} };

it('[GW-013] a call in one session goes on when the session that came first has ended', async () => {
  const room = await openRoom({ session: { provider: 'puppet' } });
  const second = await room.desk.session('ahp-session:/second', { provider: 'puppet' });
  const provider = await TestProvider.bound(room.host, { session: 'second', tools: [TOOL] });
  room.desk.dispatch(second, turnStarted('t1'));
  const outcome = (await room.agent.turn(0)).turn.callTool({ name: 'ci_status', input: {} });
  const call = await provider.next('tool.call');
  await room.desk.request('disposeSession', { channel: room.uri });
  expect((await provider.next('sessions.updated')).active.map(({ id }) => id)).toEqual(['second']);
  provider.send({ type: 'tool.result', id: call.id, data: 'green' });
  expect(await outcome).toMatchObject({ kind: 'completed', success: true, text: 'green' });
});
