/** Injects beside people: who comes first, who is meant, and what happens when a turn is stopped. */
import type { PendingMessage } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { gatewayMeta } from '../../../src/gateway/gateway-session.js';
import { tool } from '../../support/provider-room.js';
import { openPuppetRoom, openRoom, stateOf, turnStarted } from '../../support/session-room.js';
import { settle } from '../../support/test-host.js';
import { TestProvider } from '../../support/test-provider.js';

const PUPPET = { session: { provider: 'puppet' } };

function inject(event: string): object {
  return { type: 'push', level: 'inject', event };
}

function queue(id: string, text: string) {
  return { type: 'session/pendingMessageSet', kind: 'queued', id, userMessage: { text } } as const;
}

describe('an inject that was held back', () => {
  it('[UNI-050] starts after the turn before it is really over: its agent was stopped, and everybody has heard', async () => {
    const room = await openRoom(PUPPET);
    const provider = await TestProvider.bound(room.host, {
      subscribe: ['user.message', 'assistant.message'],
      tools: [tool('slow')],
    });
    provider.send(inject('one'));
    provider.send(inject('two'));
    const { turn } = await room.agent.turn(0);
    turn.text('on it');
    turn.callTool({ name: 'slow', input: {} }).catch(() => {});
    await provider.next('tool.call');
    room.desk.dispatch(room.uri, { type: 'session/turnCancelled', turnId: turn.id });
    const next = await room.agent.turn(1);
    expect(next.turn.message.text).toBe('[ci/ci] two');
    expect(turn.signal.aborted).toBe(true);
    expect((await provider.next('tool.cancel')).reason).toBe('interrupted');
    await settle();
    expect(provider.of('session.event').map(({ event, data }) => [event, 'content' in data && data.content])).toEqual([
      ['user.message', '[ci/ci] one'],
      ['assistant.message', 'on it'],
      ['user.message', '[ci/ci] two'],
    ]);
  });

  it('[UNI-059] is not behind an idle session: providers hear of that only when nothing is left', async () => {
    const room = await openRoom(PUPPET);
    const provider = await TestProvider.bound(room.host);
    provider.send(inject('one'));
    provider.send(inject('two'));
    const idles = () => provider.of('session.lifecycle').filter(({ state }) => state === 'idle').length;
    (await room.agent.turn(0)).finish();
    const second = await room.agent.turn(1);
    await settle();
    expect(idles()).toBe(0);
    second.finish();
    await settle();
    expect(idles()).toBe(1);
  });

  it('goes with its provider', async () => {
    const room = await openPuppetRoom();
    const provider = await TestProvider.bound(room.host);
    provider.send(inject('one'));
    provider.send(inject('two'));
    await settle();
    provider.send({ type: 'goodbye' });
    await provider.untilClosed();
    room.puppet.finish();
    (await room.agent.turn(1)).finish();
    await settle();
    expect(room.agent.turns).toHaveLength(2);
  });
});

describe('people', () => {
  it('[UNI-054] go first, also when the queue stood still', async () => {
    const room = await openPuppetRoom();
    const provider = await TestProvider.bound(room.host);
    provider.send(inject('mine'));
    await settle();
    room.desk.dispatch(room.uri, { type: 'session/turnCancelled', turnId: 't1' });
    await settle();
    expect(room.agent.turns).toHaveLength(1);
    room.desk.dispatch(room.uri, queue('q1', 'ours'));
    const { turn, finish } = await room.agent.turn(1);
    expect(turn.message.text).toBe('ours');
    finish();
    expect((await room.agent.turn(2)).turn.message.text).toBe('[ci/ci] mine');
  });

  it('decide when a queue that stands still goes on; a provider does not', async () => {
    const room = await openPuppetRoom();
    const provider = await TestProvider.bound(room.host);
    room.desk.dispatch(room.uri, queue('q1', 'later'));
    await settle();
    room.desk.dispatch(room.uri, { type: 'session/turnCancelled', turnId: 't1' });
    await settle();
    provider.send(inject('now'));
    await settle();
    expect(room.agent.turns).toHaveLength(1);
    expect((await stateOf(room.desk, room.uri)).queuedMessages).toHaveLength(1);
    room.desk.dispatch(room.uri, { type: 'session/pendingMessageRemoved', kind: 'queued', id: 'q1' });
    expect((await room.agent.turn(1)).turn.message.text).toBe('[ci/ci] now');
  });

  it('[UNI-058] are who rewrites a message, and who starts its turn: then it is theirs', async () => {
    const room = await openPuppetRoom();
    const provider = await TestProvider.bound(room.host, { subscribe: ['user.message'] });
    provider.send(inject('one'));
    provider.send(inject('two'));
    await settle();
    const [first] = (await stateOf(room.desk, room.uri)).queuedMessages ?? [];
    const id = first?.id ?? '';
    const userMessage = { text: 'what I would rather say', ...(first && { _meta: first.userMessage._meta }) };
    room.desk.dispatch(room.uri, { type: 'session/pendingMessageSet', kind: 'queued', id, userMessage });
    await settle();
    room.puppet.finish();
    (await room.agent.turn(1)).finish();
    (await room.agent.turn(2)).finish();
    await settle();
    expect(provider.of('session.event').map(({ data }) => data)).toEqual([
      { content: 'what I would rather say' },
      { content: '[ci/ci] two', origin: { provider: 'ci', stream: 'ci' } },
    ]);
  });

  it('[UNI-058] [UNI-067] are who starts the turn of a message that waited', async () => {
    const room = await openPuppetRoom();
    const provider = await TestProvider.bound(room.host, { subscribe: ['user.message'] });
    provider.send(inject('one'));
    await settle();
    room.desk.dispatch(room.uri, { type: 'session/turnCancelled', turnId: 't1' });
    await settle();
    const [{ id, userMessage }] = (await stateOf(room.desk, room.uri)).queuedMessages as [PendingMessage];
    room.desk.dispatch(room.uri, { type: 'session/turnStarted', turnId: 't2', userMessage, queuedMessageId: id });
    (await room.agent.turn(1)).finish();
    expect((await provider.next('session.event')).data).toEqual({ content: '[ci/ci] one' });
    expect((await stateOf(room.desk, room.uri)).queuedMessages ?? []).toEqual([]);
  });

  it('[UNI-058] [UNI-067] are not taken for a provider because they say so', async () => {
    const room = await openRoom(PUPPET);
    const provider = await TestProvider.bound(room.host, { subscribe: ['user.message'] });
    const userMessage = { text: 'me', _meta: { gateway: { provider: 'ci', stream: 'ci' } } };
    room.desk.dispatch(room.uri, { type: 'session/turnStarted', turnId: 't1', userMessage });
    await room.agent.turn(0);
    expect((await provider.next('session.event')).data).toEqual({ content: 'me' });
  });

  it('[UNI-051] re-arm a paused provider with a queued message, too; it is told of the pause once', async () => {
    const room = await openRoom(PUPPET);
    const provider = await TestProvider.bound(room.host);
    for (let count = 0; count < 3; count += 1) {
      provider.send(inject(`${count}`));
      (await room.agent.turn(count)).finish();
      await settle();
    }
    for (const event of ['a', 'b']) provider.send(inject(event));
    await settle();
    await room.clock.advance(1_000);
    expect(gatewayMeta(await stateOf(room.desk, room.uri)).timeline).toEqual([
      '※ ci: a',
      expect.stringMatching(/^※ ci: paused/),
      '※ ci: b',
    ]);
    expect(provider.of('error')).toHaveLength(2);
    room.desk.dispatch(room.uri, queue('q1', 'go on'));
    (await room.agent.turn(3)).finish();
    await settle();
    provider.send(inject('now'));
    expect((await room.agent.turn(4)).turn.message.text).toBe('[ci/ci] now');
  });

  it('[UNI-051] count for all providers, and turns of one do not count for another', async () => {
    const room = await openRoom(PUPPET);
    const [one, other] = [await TestProvider.bound(room.host), await TestProvider.bound(room.host, { name: 'bot' })];
    for (let count = 0; count < 3; count += 1) {
      one.send(inject(`${count}`));
      (await room.agent.turn(count)).finish();
      await settle();
    }
    other.send(inject('mine'));
    (await room.agent.turn(3)).finish();
    await settle();
    one.send(inject('again'));
    expect((await one.next('error')).code).toBe('RATE_LIMITED');
    room.desk.dispatch(room.uri, turnStarted('human'));
    (await room.agent.turn(4)).finish();
    await settle();
    one.send(inject('thanks'));
    expect((await room.agent.turn(5)).turn.message.text).toBe('[ci/ci] thanks');
  });
});
