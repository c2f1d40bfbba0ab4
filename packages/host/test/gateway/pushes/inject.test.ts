import type { Logger } from '@atrium/core/util/logger.js';
import { describe, expect, it } from 'vitest';
import { openPuppetRoom, openRoom, stateOf, turnStarted } from '../../support/session-room.js';
import { settle } from '../../support/test-host.js';
import { TestProvider } from '../../support/test-provider.js';

const PUPPET = { session: { provider: 'puppet' } };

function inject(event: string): object {
  return { type: 'push', level: 'inject', event };
}

describe('an inject', () => {
  it('[UNI-004] [UNI-048] [UNI-056] [UNI-067] starts a turn of its own when the session is idle', async () => {
    const room = await openRoom(PUPPET);
    const provider = await TestProvider.bound(room.host, { subscribe: ['user.message'] });
    provider.send({ ...inject('CI failed'), stream: 'builds', metadata: { run: 7 } });
    const { turn } = await room.agent.turn(0);
    expect(turn.message).toEqual({
      text: '[ci/builds] CI failed',
      _meta: { gateway: { provider: 'ci', stream: 'builds', metadata: { run: 7 } } },
    });
    expect((await provider.next('session.event')).data).toEqual({
      content: '[ci/builds] CI failed',
      origin: { provider: 'ci', stream: 'builds' },
    });
  });

  it('[GW-175] [UNI-048] is a prompt as it stands', async () => {
    const room = await openRoom(PUPPET);
    const provider = await TestProvider.bound(room.host);
    provider.send({ type: 'push', level: 'inject', prompt: 'Look at the failing test.' });
    expect((await room.agent.turn(0)).turn.message.text).toBe('Look at the failing test.');
  });

  it('[UNI-049] [UNI-111] waits while a turn runs, where people can see it, and keeps its origin throughout', async () => {
    const room = await openPuppetRoom();
    const phone = await room.join('phone');
    const provider = await TestProvider.bound(room.host);
    provider.send(inject('CI failed'));
    await settle();
    const queued = (await stateOf(room.desk, room.uri)).queuedMessages?.[0]?.userMessage;
    room.puppet.finish();
    const { turn } = await room.agent.turn(1);
    const active = (await stateOf(room.desk, room.uri)).activeTurn?.userMessage;
    const replayed = phone
      .envelopes(room.uri)
      .map(({ action }) => action as { type: string; userMessage?: unknown })
      .filter(({ type }) => type === 'session/turnStarted')
      .at(-1)?.userMessage;
    expect(queued?._meta).toEqual({ gateway: { provider: 'ci', stream: 'ci' } });
    for (const seen of [turn.message, active, replayed]) expect(seen).toEqual(queued);
  });

  it('[GW-179] [UNI-050] [UNI-059] is one at a time: the next waits until the session is idle', async () => {
    const room = await openRoom(PUPPET);
    const provider = await TestProvider.bound(room.host);
    provider.send(inject('one'));
    provider.send(inject('two'));
    const first = await room.agent.turn(0);
    await settle();
    expect((await stateOf(room.desk, room.uri)).queuedMessages ?? []).toEqual([]);
    first.finish();
    expect((await room.agent.turn(1)).turn.message.text).toBe('[ci/ci] two');
    expect(room.agent.turns).toHaveLength(2);
  });

  it('[GW-216] [UNI-050] waits in a line of ten', async () => {
    const room = await openRoom(PUPPET);
    const provider = await TestProvider.bound(room.host);
    for (let count = 0; count < 10; count += 1) provider.send(inject(`${count}`));
    await settle();
    await room.clock.advance(1_000);
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
    const room = await openRoom({ ...PUPPET, logger });
    const provider = await TestProvider.bound(room.host);
    for (let count = 0; count < 3; count += 1) {
      provider.send(inject(`${count}`));
      (await room.agent.turn(count)).finish();
      await settle();
    }
    provider.send(inject('again'));
    await settle();
    await room.clock.advance(1_000);
    expect(provider.of('error').map(({ code }) => code)).toEqual(['RATE_LIMITED']);
    expect(room.agent.turns).toHaveLength(3);
    const { _meta } = await stateOf(room.desk, room.uri);
    expect(JSON.stringify(_meta)).toContain('paused');
    expect(warnings).toEqual([expect.stringContaining('starts no more turns')]);
    provider.send({ type: 'stream.query', queryId: 'q', streams: ['ci'], last: 1 });
    expect((await provider.next('stream.history')).streams['ci@ci']?.[0]?.event).toBe('again');
    room.desk.dispatch(room.uri, turnStarted('human'));
    (await room.agent.turn(3)).finish();
    await settle();
    provider.send(inject('now'));
    expect((await room.agent.turn(4)).turn.message.text).toBe('[ci/ci] now');
  });

  it('[UNI-058] is not taken for a person, whatever a client writes into its message', async () => {
    const room = await openRoom(PUPPET);
    const provider = await TestProvider.bound(room.host);
    for (let count = 0; count < 3; count += 1) {
      const userMessage = { text: 'me', _meta: { gateway: { provider: 'ci', stream: 'ci' } } };
      room.desk.dispatch(room.uri, { type: 'session/turnStarted', turnId: `t${count}`, userMessage });
      (await room.agent.turn(count)).finish();
      await settle();
    }
    provider.send(inject('fine'));
    expect((await room.agent.turn(3)).turn.message.text).toBe('[ci/ci] fine');
  });

  it('[UNI-052] that a person deletes counts as delivered, and starts no turn', async () => {
    const room = await openPuppetRoom();
    const provider = await TestProvider.bound(room.host);
    provider.send(inject('one'));
    provider.send(inject('two'));
    await settle();
    const [message] = (await stateOf(room.desk, room.uri)).queuedMessages ?? [];
    room.desk.dispatch(room.uri, { type: 'session/pendingMessageRemoved', kind: 'queued', id: message?.id ?? '' });
    await settle();
    room.puppet.finish();
    expect((await room.agent.turn(1)).turn.message.text).toBe('[ci/ci] two');
    expect(provider.of('error')).toEqual([]);
  });

  it('[UNI-052] that a person deletes does not count as a turn in a row', async () => {
    const room = await openPuppetRoom();
    const provider = await TestProvider.bound(room.host);
    for (let count = 0; count < 3; count += 1) {
      provider.send(inject(`deleted ${count}`));
      await settle();
      const [message] = (await stateOf(room.desk, room.uri)).queuedMessages ?? [];
      room.desk.dispatch(room.uri, { type: 'session/pendingMessageRemoved', kind: 'queued', id: message?.id ?? '' });
      await settle();
    }
    room.puppet.finish();
    await settle();
    for (let count = 1; count <= 3; count += 1) {
      provider.send(inject(`${count}`));
      const { turn, finish } = await room.agent.turn(count);
      expect(turn.message.text).toBe(`[ci/ci] ${count}`);
      finish();
      await settle();
    }
    expect(provider.of('error')).toEqual([]);
  });

  it('[UNI-054] stands behind what people have queued, whenever they did', async () => {
    const room = await openPuppetRoom();
    const provider = await TestProvider.bound(room.host);
    provider.send(inject('mine'));
    await settle();
    room.desk.dispatch(room.uri, {
      type: 'session/pendingMessageSet',
      kind: 'queued',
      id: 'q1',
      userMessage: { text: 'ours' },
    });
    await settle();
    const { queuedMessages } = await stateOf(room.desk, room.uri);
    expect(queuedMessages?.map(({ userMessage }) => userMessage.text)).toEqual(['ours', '[ci/ci] mine']);
  });

  it('[UNI-055] never steers a running turn', async () => {
    const room = await openPuppetRoom();
    const provider = await TestProvider.bound(room.host);
    provider.send(inject('now'));
    await settle();
    expect((await stateOf(room.desk, room.uri)).steeringMessage).toBeUndefined();
    expect(room.puppet.turn.takeSteering()).toBeUndefined();
  });

  it('[UNI-053] finds no session that is still being made', async () => {
    const room = await openRoom({ session: { provider: 'puppet' } });
    let open = () => {};
    room.agent.opening = new Promise<void>((resolve) => {
      open = resolve;
    });
    await room.desk.request('createSession', { channel: 'ahp-session:/late', provider: 'puppet' });
    const provider = TestProvider.connect(room.host);
    expect((await provider.next('sessions')).active.map(({ id }) => id)).not.toContain('late');
    open();
    await settle();
    expect((await provider.next('sessions.updated')).active.map(({ id }) => id)).toContain('late');
  });
});
