import type { Logger } from '@atrium/core/util/logger.js';
import { describe, expect, it } from 'vitest';
import { openFixture, openPuppetFixture, stateOf, turnStarted } from '../../support/session-fixture.js';
import { settle } from '../../support/test-host.js';
import { TestProvider } from '../../support/test-provider.js';

const PUPPET = { session: { provider: 'puppet' } };

function inject(event: string): object {
  return { type: 'push', level: 'inject', event };
}

describe('an inject', () => {
  it('[UNI-004] [UNI-048] [UNI-056] [UNI-067] starts a turn of its own when the session is idle', async () => {
    const fixture = await openFixture(PUPPET);
    const provider = await TestProvider.bound(fixture.host, { subscribe: ['user.message'] });
    provider.send({ ...inject('CI failed'), stream: 'builds', metadata: { run: 7 } });
    const { turn } = await fixture.agent.turn(0);
    expect(turn.message).toEqual({
      text: '[ci/builds] CI failed',
      origin: { kind: 'systemNotification' },
      _meta: { gateway: { provider: 'ci', stream: 'builds', metadata: { run: 7 } } },
    });
    expect((await provider.next('session.event')).data).toEqual({
      content: '[ci/builds] CI failed',
      origin: { provider: 'ci', stream: 'builds' },
    });
  });

  it('[GW-175] [UNI-048] is a prompt as it stands', async () => {
    const fixture = await openFixture(PUPPET);
    const provider = await TestProvider.bound(fixture.host);
    provider.send({ type: 'push', level: 'inject', prompt: 'Look at the failing test.' });
    expect((await fixture.agent.turn(0)).turn.message.text).toBe('Look at the failing test.');
  });

  it('[UNI-049] [UNI-111] waits while a turn runs, where people can see it, and keeps its origin throughout', async () => {
    const fixture = await openPuppetFixture();
    const phone = await fixture.join('phone');
    const provider = await TestProvider.bound(fixture.host);
    provider.send(inject('CI failed'));
    await settle();
    const queued = (await stateOf(fixture.client, fixture.uri)).queuedMessages?.[0]?.userMessage;
    fixture.puppet.finish();
    const { turn } = await fixture.agent.turn(1);
    const active = (await stateOf(fixture.client, fixture.uri)).activeTurn?.userMessage;
    const replayed = phone
      .envelopes(fixture.uri)
      .map(({ action }) => action as { type: string; userMessage?: unknown })
      .filter(({ type }) => type === 'session/turnStarted')
      .at(-1)?.userMessage;
    expect(queued?._meta).toEqual({ gateway: { provider: 'ci', stream: 'ci' } });
    for (const seen of [active, replayed]) expect(seen).toEqual(queued);
    expect(turn.message).toEqual({ ...queued, origin: { kind: 'systemNotification' } });
  });

  it('[GW-179] [UNI-050] [UNI-059] is one at a time: the next waits until the session is idle', async () => {
    const fixture = await openFixture(PUPPET);
    const provider = await TestProvider.bound(fixture.host);
    provider.send(inject('one'));
    provider.send(inject('two'));
    const first = await fixture.agent.turn(0);
    await settle();
    expect((await stateOf(fixture.client, fixture.uri)).queuedMessages ?? []).toEqual([]);
    first.finish();
    expect((await fixture.agent.turn(1)).turn.message.text).toBe('[ci/ci] two');
    expect(fixture.agent.turns).toHaveLength(2);
  });

  it('[GW-216] [UNI-050] waits in a line of ten', async () => {
    const fixture = await openFixture(PUPPET);
    const provider = await TestProvider.bound(fixture.host);
    for (let count = 0; count < 10; count += 1) provider.send(inject(`${count}`));
    await settle();
    await fixture.clock.advance(1_000);
    provider.send(inject('10'));
    await settle();
    expect(provider.of('error')).toEqual([]);
    provider.send(inject('11'));
    await settle();
    expect(provider.of('error').map(({ code }) => code)).toEqual(['RATE_LIMITED']);
  });

  it('[GW-180] [UNI-051] [REL-046] is paused after three turns in a row, and goes on when a person speaks', async () => {
    const warnings: string[] = [];
    const logger: Logger = { log: (level, message) => void (level === 'warn' && warnings.push(message)) };
    const fixture = await openFixture({ ...PUPPET, logger });
    const provider = await TestProvider.bound(fixture.host);
    for (let count = 0; count < 3; count += 1) {
      provider.send(inject(`${count}`));
      (await fixture.agent.turn(count)).finish();
      await settle();
    }
    provider.send(inject('again'));
    await settle();
    await fixture.clock.advance(1_000);
    expect(provider.of('error').map(({ code }) => code)).toEqual(['RATE_LIMITED']);
    expect(fixture.agent.turns).toHaveLength(3);
    const { _meta } = await stateOf(fixture.client, fixture.uri);
    expect(JSON.stringify(_meta)).toContain('paused');
    expect(warnings).toEqual([expect.stringContaining('starts no more turns')]);
    provider.send({ type: 'stream.query', queryId: 'q', streams: ['ci'], last: 1 });
    expect((await provider.next('stream.history')).streams['ci@ci']?.[0]?.event).toBe('again');
    fixture.client.dispatch(fixture.uri, turnStarted('human'));
    (await fixture.agent.turn(3)).finish();
    await settle();
    provider.send(inject('now'));
    expect((await fixture.agent.turn(4)).turn.message.text).toBe('[ci/ci] now');
  });

  it('[UNI-058] is not taken for a person, whatever a client writes into its message', async () => {
    const fixture = await openFixture(PUPPET);
    const provider = await TestProvider.bound(fixture.host);
    for (let count = 0; count < 3; count += 1) {
      const userMessage = { text: 'me', _meta: { gateway: { provider: 'ci', stream: 'ci' } } };
      fixture.client.dispatch(fixture.uri, { type: 'session/turnStarted', turnId: `t${count}`, userMessage });
      (await fixture.agent.turn(count)).finish();
      await settle();
    }
    provider.send(inject('fine'));
    expect((await fixture.agent.turn(3)).turn.message.text).toBe('[ci/ci] fine');
  });

  it('[UNI-052] that a person deletes counts as delivered, and starts no turn', async () => {
    const fixture = await openPuppetFixture();
    const provider = await TestProvider.bound(fixture.host);
    provider.send(inject('one'));
    provider.send(inject('two'));
    await settle();
    const [message] = (await stateOf(fixture.client, fixture.uri)).queuedMessages ?? [];
    fixture.client.dispatch(fixture.uri, {
      type: 'session/pendingMessageRemoved',
      kind: 'queued',
      id: message?.id ?? '',
    });
    await settle();
    fixture.puppet.finish();
    expect((await fixture.agent.turn(1)).turn.message.text).toBe('[ci/ci] two');
    expect(provider.of('error')).toEqual([]);
  });

  it('[UNI-052] that a person deletes does not count as a turn in a row', async () => {
    const fixture = await openPuppetFixture();
    const provider = await TestProvider.bound(fixture.host);
    for (let count = 0; count < 3; count += 1) {
      provider.send(inject(`deleted ${count}`));
      await settle();
      const [message] = (await stateOf(fixture.client, fixture.uri)).queuedMessages ?? [];
      fixture.client.dispatch(fixture.uri, {
        type: 'session/pendingMessageRemoved',
        kind: 'queued',
        id: message?.id ?? '',
      });
      await settle();
    }
    fixture.puppet.finish();
    await settle();
    for (let count = 1; count <= 3; count += 1) {
      provider.send(inject(`${count}`));
      const { turn, finish } = await fixture.agent.turn(count);
      expect(turn.message.text).toBe(`[ci/ci] ${count}`);
      finish();
      await settle();
    }
    expect(provider.of('error')).toEqual([]);
  });

  it('[UNI-054] stands behind what people have queued, whenever they did', async () => {
    const fixture = await openPuppetFixture();
    const provider = await TestProvider.bound(fixture.host);
    provider.send(inject('mine'));
    await settle();
    fixture.client.dispatch(fixture.uri, {
      type: 'session/pendingMessageSet',
      kind: 'queued',
      id: 'q1',
      userMessage: { text: 'ours' },
    });
    await settle();
    const { queuedMessages } = await stateOf(fixture.client, fixture.uri);
    expect(queuedMessages?.map(({ userMessage }) => userMessage.text)).toEqual(['ours', '[ci/ci] mine']);
  });

  it('[UNI-055] never steers a running turn', async () => {
    const fixture = await openPuppetFixture();
    const provider = await TestProvider.bound(fixture.host);
    provider.send(inject('now'));
    await settle();
    expect((await stateOf(fixture.client, fixture.uri)).steeringMessage).toBeUndefined();
    expect(fixture.puppet.turn.takeSteering()).toBeUndefined();
  });

  it('[UNI-053] finds no session that is still being made', async () => {
    const fixture = await openFixture({ session: { provider: 'puppet' } });
    let open = () => {};
    fixture.agent.opening = new Promise<void>((resolve) => {
      open = resolve;
    });
    await fixture.client.request('createSession', { channel: 'ahp-session:/late', provider: 'puppet' });
    const provider = TestProvider.connect(fixture.host);
    expect((await provider.next('sessions')).active.map(({ id }) => id)).not.toContain('late');
    open();
    await settle();
    expect((await provider.next('sessions.updated')).active.map(({ id }) => id)).toContain('late');
  });
});
