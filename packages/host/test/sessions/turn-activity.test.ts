import { MemoryLog } from '@atrium/core/log/memory-log.js';
import { describe, expect, it } from 'vitest';
import {
  type Fixture,
  openFixture,
  openPuppetFixture,
  startHost,
  stateOf,
  turnStarted,
} from '../support/session-fixture.js';
import { settle } from '../support/test-host.js';
import { TestProvider } from '../support/test-provider.js';

async function activityOf({ client, uri }: Pick<Fixture, 'client' | 'uri'>): Promise<string | undefined> {
  return (await stateOf(client, uri)).summary.activity;
}

describe('what a turn says it is doing', () => {
  it.each([
    ['completes', ({ puppet }) => puppet.finish()],
    ['fails', ({ puppet }) => puppet.fail(new Error('boom'))],
    ['is cancelled', ({ client, uri }) => void client.dispatch(uri, { type: 'session/turnCancelled', turnId: 't1' })],
  ] satisfies [string, (fixture: Awaited<ReturnType<typeof openPuppetFixture>>) => void][])(
    'is gone when the turn %s',
    async (_how, end) => {
      const fixture = await openPuppetFixture();
      fixture.puppet.turn.activity('Reading the tests');
      await settle();
      expect(await activityOf(fixture)).toBe('Reading the tests');
      end(fixture);
      await settle();
      expect(await activityOf(fixture)).toBeUndefined();
      const ended = fixture.client.types(fixture.uri).slice(-2);
      expect(ended[1]).toBe('session/activityChanged');
    },
  );

  it('is gone before the next turn begins, which may say something else', async () => {
    const fixture = await openPuppetFixture();
    const userMessage = { text: 'more' };
    fixture.client.dispatch(fixture.uri, { type: 'session/pendingMessageSet', kind: 'queued', id: 'q', userMessage });
    fixture.puppet.turn.activity('Reading');
    await settle();
    fixture.puppet.finish();
    const { turn } = await fixture.agent.turn(1);
    expect(await activityOf(fixture)).toBeUndefined();
    turn.activity('Writing');
    await settle();
    expect(await activityOf(fixture)).toBe('Writing');
  });

  it('is not told when there was nothing to take back', async () => {
    const fixture = await openPuppetFixture();
    fixture.puppet.turn.activity('Reading');
    fixture.puppet.turn.activity(undefined);
    await settle();
    const before = fixture.client.types(fixture.uri).filter((type) => type === 'session/activityChanged').length;
    fixture.puppet.finish();
    await settle();
    expect(fixture.client.types(fixture.uri).filter((type) => type === 'session/activityChanged')).toHaveLength(before);
  });

  it('[UNI-061] is not what a provider showed between turns: that stays, also over a turn that says nothing', async () => {
    const fixture = await openFixture({ session: { provider: 'puppet' } });
    const provider = await TestProvider.bound(fixture.host);
    provider.send({ type: 'push', level: 'surface', event: 'deployed' });
    await settle();
    fixture.client.dispatch(fixture.uri, turnStarted('t1'));
    (await fixture.agent.turn(0)).finish();
    await settle();
    expect(await activityOf(fixture)).toBe('※ ci: deployed');
    fixture.client.dispatch(fixture.uri, turnStarted('t2'));
    const { turn, finish } = await fixture.agent.turn(1);
    turn.activity('Reading');
    finish();
    await settle();
    await fixture.clock.advance(1_000);
    provider.send({ type: 'push', level: 'surface', event: 'rolled back' });
    await settle();
    expect(await activityOf(fixture)).toBe('※ ci: rolled back');
  });

  it('is gone when the host died in that turn', async () => {
    const log = new MemoryLog();
    const fixture = await openPuppetFixture({ log });
    fixture.puppet.turn.activity('Reading');
    await settle();
    const host = await startHost({ log, agents: [fixture.agent] });
    const client = await host.client('desk-again');
    await settle();
    expect(await activityOf({ client, uri: fixture.uri })).toBeUndefined();
  });
});
