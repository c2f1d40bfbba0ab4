import { MemoryLog } from '@atrium/core/log/memory-log.js';
import { describe, expect, it } from 'vitest';
import { openPuppetRoom, openRoom, type Room, startHost, stateOf, turnStarted } from '../support/session-room.js';
import { settle } from '../support/test-host.js';
import { TestProvider } from '../support/test-provider.js';

async function activityOf({ desk, uri }: Pick<Room, 'desk' | 'uri'>): Promise<string | undefined> {
  return (await stateOf(desk, uri)).summary.activity;
}

describe('what a turn says it is doing', () => {
  it.each([
    ['completes', ({ puppet }) => puppet.finish()],
    ['fails', ({ puppet }) => puppet.fail(new Error('boom'))],
    ['is cancelled', ({ desk, uri }) => void desk.dispatch(uri, { type: 'session/turnCancelled', turnId: 't1' })],
  ] satisfies [string, (room: Awaited<ReturnType<typeof openPuppetRoom>>) => void][])(
    'is gone when the turn %s',
    async (_how, end) => {
      const room = await openPuppetRoom();
      room.puppet.turn.activity('Reading the tests');
      await settle();
      expect(await activityOf(room)).toBe('Reading the tests');
      end(room);
      await settle();
      expect(await activityOf(room)).toBeUndefined();
      const ended = room.desk.types(room.uri).slice(-2);
      expect(ended[1]).toBe('session/activityChanged');
    },
  );

  it('is gone before the next turn begins, which may say something else', async () => {
    const room = await openPuppetRoom();
    const userMessage = { text: 'more' };
    room.desk.dispatch(room.uri, { type: 'session/pendingMessageSet', kind: 'queued', id: 'q', userMessage });
    room.puppet.turn.activity('Reading');
    await settle();
    room.puppet.finish();
    const { turn } = await room.agent.turn(1);
    expect(await activityOf(room)).toBeUndefined();
    turn.activity('Writing');
    await settle();
    expect(await activityOf(room)).toBe('Writing');
  });

  it('is not told when there was nothing to take back', async () => {
    const room = await openPuppetRoom();
    room.puppet.turn.activity('Reading');
    room.puppet.turn.activity(undefined);
    await settle();
    const before = room.desk.types(room.uri).filter((type) => type === 'session/activityChanged').length;
    room.puppet.finish();
    await settle();
    expect(room.desk.types(room.uri).filter((type) => type === 'session/activityChanged')).toHaveLength(before);
  });

  it('[UNI-061] is not what a provider showed between turns: that stays, also over a turn that says nothing', async () => {
    const room = await openRoom({ session: { provider: 'puppet' } });
    const provider = await TestProvider.bound(room.host);
    provider.send({ type: 'push', level: 'surface', event: 'deployed' });
    await settle();
    room.desk.dispatch(room.uri, turnStarted('t1'));
    (await room.agent.turn(0)).finish();
    await settle();
    expect(await activityOf(room)).toBe('※ ci: deployed');
    room.desk.dispatch(room.uri, turnStarted('t2'));
    const { turn, finish } = await room.agent.turn(1);
    turn.activity('Reading');
    finish();
    await settle();
    await room.clock.advance(1_000);
    provider.send({ type: 'push', level: 'surface', event: 'rolled back' });
    await settle();
    expect(await activityOf(room)).toBe('※ ci: rolled back');
  });

  it('is gone when the host died in that turn', async () => {
    const log = new MemoryLog();
    const room = await openPuppetRoom({ log });
    room.puppet.turn.activity('Reading');
    await settle();
    const host = await startHost({ log, agents: [room.agent] });
    const desk = await host.client('desk-again');
    await settle();
    expect(await activityOf({ desk, uri: room.uri })).toBeUndefined();
  });
});
