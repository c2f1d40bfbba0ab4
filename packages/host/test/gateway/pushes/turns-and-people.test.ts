/** Injects beside people: who comes first, who is meant, and what happens when a turn is stopped. */
import type { PendingMessage } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { gatewayMeta } from '../../../src/gateway/gateway-session.js';
import { tool } from '../../support/provider-fixture.js';
import { openFixture, openPuppetFixture, stateOf, turnStarted } from '../../support/session-fixture.js';
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
    const fixture = await openFixture(PUPPET);
    const provider = await TestProvider.bound(fixture.host, {
      subscribe: ['user.message', 'assistant.message'],
      tools: [tool('slow')],
    });
    provider.send(inject('one'));
    provider.send(inject('two'));
    const { turn } = await fixture.agent.turn(0);
    turn.text('on it');
    turn.callTool({ name: 'slow', input: {} }).catch(() => {});
    await provider.next('tool.call');
    fixture.client.dispatch(fixture.uri, { type: 'session/turnCancelled', turnId: turn.id });
    const next = await fixture.agent.turn(1);
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
    const fixture = await openFixture(PUPPET);
    const provider = await TestProvider.bound(fixture.host);
    provider.send(inject('one'));
    provider.send(inject('two'));
    const idles = () => provider.of('session.lifecycle').filter(({ state }) => state === 'idle').length;
    (await fixture.agent.turn(0)).finish();
    const second = await fixture.agent.turn(1);
    await settle();
    expect(idles()).toBe(0);
    second.finish();
    await settle();
    expect(idles()).toBe(1);
  });

  it('goes with its provider', async () => {
    const fixture = await openPuppetFixture();
    const provider = await TestProvider.bound(fixture.host);
    provider.send(inject('one'));
    provider.send(inject('two'));
    await settle();
    provider.send({ type: 'goodbye' });
    await provider.untilClosed();
    fixture.puppet.finish();
    (await fixture.agent.turn(1)).finish();
    await settle();
    expect(fixture.agent.turns).toHaveLength(2);
  });
});

describe('people', () => {
  it('[UNI-054] go first, also when the queue stood still', async () => {
    const fixture = await openPuppetFixture();
    const provider = await TestProvider.bound(fixture.host);
    provider.send(inject('mine'));
    await settle();
    fixture.client.dispatch(fixture.uri, { type: 'session/turnCancelled', turnId: 't1' });
    await settle();
    expect(fixture.agent.turns).toHaveLength(1);
    fixture.client.dispatch(fixture.uri, queue('q1', 'ours'));
    const { turn, finish } = await fixture.agent.turn(1);
    expect(turn.message.text).toBe('ours');
    finish();
    expect((await fixture.agent.turn(2)).turn.message.text).toBe('[ci/ci] mine');
  });

  it('decide when a queue that stands still goes on; a provider does not', async () => {
    const fixture = await openPuppetFixture();
    const provider = await TestProvider.bound(fixture.host);
    fixture.client.dispatch(fixture.uri, queue('q1', 'later'));
    await settle();
    fixture.client.dispatch(fixture.uri, { type: 'session/turnCancelled', turnId: 't1' });
    await settle();
    provider.send(inject('now'));
    await settle();
    expect(fixture.agent.turns).toHaveLength(1);
    expect((await stateOf(fixture.client, fixture.uri)).queuedMessages).toHaveLength(1);
    fixture.client.dispatch(fixture.uri, { type: 'session/pendingMessageRemoved', kind: 'queued', id: 'q1' });
    expect((await fixture.agent.turn(1)).turn.message.text).toBe('[ci/ci] now');
  });

  it('[UNI-058] are who rewrites a message, and who starts its turn: then it is theirs', async () => {
    const fixture = await openPuppetFixture();
    const provider = await TestProvider.bound(fixture.host, { subscribe: ['user.message'] });
    provider.send(inject('one'));
    provider.send(inject('two'));
    await settle();
    const [first] = (await stateOf(fixture.client, fixture.uri)).queuedMessages ?? [];
    const id = first?.id ?? '';
    const userMessage = { text: 'what I would rather say', ...(first && { _meta: first.userMessage._meta }) };
    fixture.client.dispatch(fixture.uri, { type: 'session/pendingMessageSet', kind: 'queued', id, userMessage });
    await settle();
    fixture.puppet.finish();
    (await fixture.agent.turn(1)).finish();
    (await fixture.agent.turn(2)).finish();
    await settle();
    expect(provider.of('session.event').map(({ data }) => data)).toEqual([
      { content: 'what I would rather say' },
      { content: '[ci/ci] two', origin: { provider: 'ci', stream: 'ci' } },
    ]);
  });

  it('[UNI-058] [UNI-067] are who starts the turn of a message that waited', async () => {
    const fixture = await openPuppetFixture();
    const provider = await TestProvider.bound(fixture.host, { subscribe: ['user.message'] });
    provider.send(inject('one'));
    await settle();
    fixture.client.dispatch(fixture.uri, { type: 'session/turnCancelled', turnId: 't1' });
    await settle();
    const [{ id, userMessage }] = (await stateOf(fixture.client, fixture.uri)).queuedMessages as [PendingMessage];
    fixture.client.dispatch(fixture.uri, {
      type: 'session/turnStarted',
      turnId: 't2',
      userMessage,
      queuedMessageId: id,
    });
    (await fixture.agent.turn(1)).finish();
    expect((await provider.next('session.event')).data).toEqual({ content: '[ci/ci] one' });
    expect((await stateOf(fixture.client, fixture.uri)).queuedMessages ?? []).toEqual([]);
  });

  it('[UNI-058] [UNI-067] are not taken for a provider because they say so', async () => {
    const fixture = await openFixture(PUPPET);
    const provider = await TestProvider.bound(fixture.host, { subscribe: ['user.message'] });
    const userMessage = { text: 'me', _meta: { gateway: { provider: 'ci', stream: 'ci' } } };
    fixture.client.dispatch(fixture.uri, { type: 'session/turnStarted', turnId: 't1', userMessage });
    await fixture.agent.turn(0);
    expect((await provider.next('session.event')).data).toEqual({ content: 'me' });
  });

  it('[UNI-051] re-arm a paused provider with a queued message, too; it is told of the pause once', async () => {
    const fixture = await openFixture(PUPPET);
    const provider = await TestProvider.bound(fixture.host);
    for (let count = 0; count < 3; count += 1) {
      provider.send(inject(`${count}`));
      (await fixture.agent.turn(count)).finish();
      await settle();
    }
    for (const event of ['a', 'b']) provider.send(inject(event));
    await settle();
    await fixture.clock.advance(1_000);
    expect(gatewayMeta(await stateOf(fixture.client, fixture.uri)).timeline).toEqual([
      '※ ci: a',
      expect.stringMatching(/^※ ci: paused/),
      '※ ci: b',
    ]);
    expect(provider.of('error')).toHaveLength(2);
    fixture.client.dispatch(fixture.uri, queue('q1', 'go on'));
    (await fixture.agent.turn(3)).finish();
    await settle();
    provider.send(inject('now'));
    expect((await fixture.agent.turn(4)).turn.message.text).toBe('[ci/ci] now');
  });

  it('[UNI-051] count for all providers, and turns of one do not count for another', async () => {
    const fixture = await openFixture(PUPPET);
    const [one, other] = [
      await TestProvider.bound(fixture.host),
      await TestProvider.bound(fixture.host, { name: 'bot' }),
    ];
    for (let count = 0; count < 3; count += 1) {
      one.send(inject(`${count}`));
      (await fixture.agent.turn(count)).finish();
      await settle();
    }
    other.send(inject('mine'));
    (await fixture.agent.turn(3)).finish();
    await settle();
    one.send(inject('again'));
    expect((await one.next('error')).code).toBe('RATE_LIMITED');
    fixture.client.dispatch(fixture.uri, turnStarted('human'));
    (await fixture.agent.turn(4)).finish();
    await settle();
    one.send(inject('thanks'));
    expect((await fixture.agent.turn(5)).turn.message.text).toBe('[ci/ci] thanks');
  });
});
