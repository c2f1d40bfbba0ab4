import type { StateAction } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { answerTo, envelopesOf, openPuppetRoom, stateOf, turnStarted } from '../support/session-room.js';
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
  it('[AHP-129] [AHP-153] is held: nobody sees it, and the turn keeps its model', async () => {
    const { alice, uri, puppet } = await openPuppetRoom({ session: { model: { id: 'old' } } });
    alice.dispatch(uri, model('new'));
    alice.dispatch(uri, agentOf('file:///a.md'));
    await settle();
    expect(alice.types(uri)).not.toContain('session/modelChanged');
    expect((await stateOf(alice, uri)).summary.model).toEqual({ id: 'old' });
    expect(puppet.turn.model).toEqual({ id: 'old' });
  });

  it('[AHP-150] without a turn takes effect at once, and the next turn uses it', async () => {
    const { alice, uri, puppet, agent } = await openPuppetRoom();
    puppet.finish();
    await alice.action(uri, 'session/turnComplete');
    alice.dispatch(uri, model('new'));
    alice.dispatch(uri, agentOf('file:///a.md'));
    alice.dispatch(uri, turnStarted('t2'));
    const { turn } = await agent.turn(1);
    expect(turn.model).toEqual({ id: 'new' });
    expect(turn.agent).toEqual({ uri: 'file:///a.md' });
  });

  it('[AHP-154] is applied when the turn is complete, before the next message in the queue', async () => {
    const { alice, uri, puppet, agent } = await openPuppetRoom();
    alice.dispatch(uri, queued('next'));
    alice.dispatch(uri, model('new'));
    await settle();
    puppet.finish();
    const second = await agent.turn(1);
    await settle();
    expect(second.turn.model).toEqual({ id: 'new' });
    expect(alice.types(uri).slice(-4)).toEqual([
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
    const { alice, uri } = await openPuppetRoom();
    alice.dispatch(uri, model('new'));
    alice.dispatch(uri, end);
    await alice.action(uri, 'session/modelChanged');
    expect(alice.types(uri).slice(-2)).toEqual([end.type, 'session/modelChanged']);
    expect((await stateOf(alice, uri)).summary.model).toEqual({ id: 'new' });
  });

  it('[AHP-154] is applied when the turn fails', async () => {
    const { alice, uri, puppet } = await openPuppetRoom();
    alice.dispatch(uri, model('new'));
    await settle();
    puppet.fail(new Error('no'));
    await alice.action(uri, 'session/modelChanged');
    expect(alice.types(uri).slice(-2)).toEqual(['session/error', 'session/modelChanged']);
  });

  it('[AHP-155] is echoed to everyone with its origin, behind later actions of the same client', async () => {
    const { alice, uri, puppet, join } = await openPuppetRoom();
    const bob = await join('bob');
    const held = alice.dispatch(uri, model('new'));
    const later = alice.dispatch(uri, { type: 'session/titleChanged', title: 'later' });
    const first = await answerTo(alice, uri, later);
    puppet.finish();
    const second = await answerTo(alice, uri, held);
    expect(second.origin).toEqual({ clientId: 'alice', clientSeq: held });
    expect(second.serverSeq).toBeGreaterThan(first.serverSeq);
    const seen = await bob.action(uri, 'session/modelChanged');
    expect(seen.origin).toEqual({ clientId: 'alice', clientSeq: held });
  });

  it('[AHP-156] several times: all are applied and echoed, in the order they came', async () => {
    const { alice, uri, puppet, join } = await openPuppetRoom();
    const bob = await join('bob');
    alice.dispatch(uri, model('one'));
    await settle();
    bob.dispatch(uri, agentOf('file:///a.md'));
    await settle();
    alice.dispatch(uri, model('two'));
    alice.dispatch(uri, agentOf());
    await settle();
    puppet.finish();
    await bob.action(uri, 'session/turnComplete');
    const applied = envelopesOf(bob, uri).filter(({ action }) => /modelChanged|agentChanged/.test(action.type));
    expect(applied.map(({ action, origin }) => [origin?.clientId, action.model ?? action.agent])).toEqual([
      ['alice', { id: 'one' }],
      ['bob', { uri: 'file:///a.md' }],
      ['alice', { id: 'two' }],
      ['alice', undefined],
    ]);
    const { summary } = await stateOf(bob, uri);
    expect(summary.model).toEqual({ id: 'two' });
    expect(summary.agent).toBeUndefined();
  });

  it('[AHP-155] is echoed once, also when the client sends it again after a reconnect', async () => {
    const { alice, uri, puppet, host } = await openPuppetRoom();
    const held = alice.dispatch(uri, model('new'));
    await settle();
    alice.disconnect();
    const again = host.connect();
    again.continue(alice);
    await again.request('reconnect', {
      channel: 'ahp-root://',
      clientId: 'alice',
      lastSeenServerSeq: host.log.head,
      subscriptions: [uri],
      pending: [held],
    });
    again.dispatch(uri, model('new'), held);
    await settle();
    puppet.finish();
    await answerTo(again, uri, held);
    await settle();
    expect(again.types(uri).filter((type) => type === 'session/modelChanged')).toHaveLength(1);
  });
});
