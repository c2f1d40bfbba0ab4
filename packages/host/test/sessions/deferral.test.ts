import type { StateAction } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { answerTo, envelopesOf, openPuppetFixture, stateOf, turnStarted } from '../support/session-fixture.js';
import { settle } from '../support/test-host.js';

const model = (id: string): StateAction => ({ type: 'session/modelChanged', model: { id } });
const agentOf = (uri?: string): StateAction => ({ type: 'session/agentChanged', ...(uri && { agent: { uri } }) });
const queued = (id: string): StateAction => ({
  type: 'session/pendingMessageSet',
  kind: 'queued',
  id,
  userMessage: { text: id },
});

describe('changing the model or the agent during a turn', () => {
  it('[AHP-129] [AHP-153] is deferred: nobody sees it, and the turn keeps its model', async () => {
    const { client, uri, puppet } = await openPuppetFixture({ session: { model: { id: 'old' } } });
    client.dispatch(uri, model('new'));
    client.dispatch(uri, agentOf('file:///a.md'));
    await settle();
    expect(client.types(uri)).not.toContain('session/modelChanged');
    expect((await stateOf(client, uri)).summary.model).toEqual({ id: 'old' });
    expect(puppet.turn.model).toEqual({ id: 'old' });
  });

  it('[AHP-150] without a turn takes effect at once, and the next turn uses it', async () => {
    const { client, uri, puppet, agent } = await openPuppetFixture();
    puppet.finish();
    await client.action(uri, 'session/turnComplete');
    client.dispatch(uri, model('new'));
    client.dispatch(uri, agentOf('file:///a.md'));
    client.dispatch(uri, turnStarted('t2'));
    const { turn } = await agent.turn(1);
    expect(turn.model).toEqual({ id: 'new' });
    expect(turn.agent).toEqual({ uri: 'file:///a.md' });
  });

  it('[AHP-154] is applied when the turn is complete, before the next message in the queue', async () => {
    const { client, uri, puppet, agent } = await openPuppetFixture();
    client.dispatch(uri, queued('next'));
    client.dispatch(uri, model('new'));
    await settle();
    puppet.finish();
    const second = await agent.turn(1);
    await settle();
    expect(second.turn.model).toEqual({ id: 'new' });
    expect(client.types(uri).slice(-4)).toEqual([
      'session/turnComplete',
      'session/modelChanged',
      'session/pendingMessageRemoved',
      'session/turnStarted',
    ]);
  });

  it.each<[string, StateAction]>([
    ['cancelled', { type: 'session/turnCancelled', turnId: 't1' }],
    ['truncated away', { type: 'session/truncated' }],
  ])('[AHP-154] is applied when the turn is %s', async (_how, end) => {
    const { client, uri } = await openPuppetFixture();
    client.dispatch(uri, model('new'));
    client.dispatch(uri, end);
    await client.action(uri, 'session/modelChanged');
    expect(client.types(uri).slice(-2)).toEqual([end.type, 'session/modelChanged']);
    expect((await stateOf(client, uri)).summary.model).toEqual({ id: 'new' });
  });

  it('[AHP-154] is applied when the turn fails', async () => {
    const { client, uri, puppet } = await openPuppetFixture();
    client.dispatch(uri, model('new'));
    await settle();
    puppet.fail(new Error('no'));
    await client.action(uri, 'session/modelChanged');
    expect(client.types(uri).slice(-2)).toEqual(['session/error', 'session/modelChanged']);
  });

  it('[AHP-155] is echoed to everyone with its origin, behind later actions of the same client', async () => {
    const { client, uri, puppet, join } = await openPuppetFixture();
    const phone = await join('phone');
    const deferred = client.dispatch(uri, model('new'));
    const later = client.dispatch(uri, { type: 'session/titleChanged', title: 'later' });
    const first = await answerTo(client, uri, later);
    puppet.finish();
    const second = await answerTo(client, uri, deferred);
    expect(second.origin).toEqual({ clientId: 'desk', clientSeq: deferred });
    expect(second.serverSeq).toBeGreaterThan(first.serverSeq);
    const seen = await phone.action(uri, 'session/modelChanged');
    expect(seen.origin).toEqual({ clientId: 'desk', clientSeq: deferred });
  });

  it('[AHP-156] several times: all are applied and echoed, in the order they came', async () => {
    const { client, uri, puppet, join } = await openPuppetFixture();
    const phone = await join('phone');
    client.dispatch(uri, model('one'));
    await settle();
    phone.dispatch(uri, agentOf('file:///a.md'));
    await settle();
    client.dispatch(uri, model('two'));
    client.dispatch(uri, agentOf());
    await settle();
    puppet.finish();
    await phone.action(uri, 'session/turnComplete');
    const applied = envelopesOf(phone, uri).filter(({ action }) => /modelChanged|agentChanged/.test(action.type));
    expect(applied.map(({ action, origin }) => [origin?.clientId, action.model ?? action.agent])).toEqual([
      ['desk', { id: 'one' }],
      ['phone', { uri: 'file:///a.md' }],
      ['desk', { id: 'two' }],
      ['desk', undefined],
    ]);
    const { summary } = await stateOf(phone, uri);
    expect(summary.model).toEqual({ id: 'two' });
    expect(summary.agent).toBeUndefined();
  });

  it('[AHP-155] is echoed once, also when the client sends it again after a reconnect', async () => {
    const { client, uri, puppet, host } = await openPuppetFixture();
    const deferred = client.dispatch(uri, model('new'));
    await settle();
    client.disconnect();
    const again = host.connect();
    again.continue(client);
    await again.request('reconnect', {
      channel: 'ahp-root://',
      clientId: 'desk',
      lastSeenServerSeq: host.log.head,
      subscriptions: [uri],
      pending: [deferred],
    });
    again.dispatch(uri, model('new'), deferred);
    await settle();
    puppet.finish();
    await answerTo(again, uri, deferred);
    await settle();
    expect(again.types(uri).filter((type) => type === 'session/modelChanged')).toHaveLength(1);
  });
});
