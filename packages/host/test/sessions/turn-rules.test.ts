import { describe, expect, it } from 'vitest';
import { PuppetAgent } from '../support/puppet-agent.js';
import {
  answerTo,
  openFixture,
  openPuppetFixture,
  refusalOf,
  startHost,
  stateOf,
  turnStarted,
} from '../support/session-fixture.js';
import { DEFAULT_SCRIPT, settle, startTestHost } from '../support/test-host.js';

describe('starting a turn', () => {
  it('[AHP-118] is taken while none runs, and refused while one does', async () => {
    const { client, uri, puppet } = await openPuppetFixture();
    expect(await refusalOf(client, uri, turnStarted('t2'))).toContain('t1');
    expect((await stateOf(client, uri)).activeTurn?.id).toBe('t1');
    puppet.finish();
    await client.action(uri, 'session/turnComplete');
    expect(await refusalOf(client, uri, turnStarted('t3'))).toBeUndefined();
  });

  it('[AHP-118] [REL-022] goes to the first of two who send in the same tick; the agent runs once', async () => {
    const { client, uri, agent, join } = await openFixture({ session: { provider: 'puppet' } });
    const phone = await join('phone');
    const answers = await Promise.all([
      refusalOf(client, uri, turnStarted('a')),
      refusalOf(phone, uri, turnStarted('b')),
    ]);
    expect(answers).toEqual([undefined, expect.stringContaining('a')]);
    await settle();
    expect(agent.turns.map(({ turn }) => turn.id)).toEqual(['a']);
  });

  it('[AHP-119] is taken while the session is being created, and runs when the agent is there', async () => {
    let open = () => {};
    const agent = new PuppetAgent();
    agent.opening = new Promise((resolve) => {
      open = resolve;
    });
    const host = await startHost({ agents: [agent] });
    const client = await host.client('desk');
    await client.request('createSession', { channel: 'x:1', provider: 'puppet' });
    await client.request('subscribe', { channel: 'x:1' });
    expect(await refusalOf(client, 'x:1', turnStarted('early'))).toBeUndefined();
    await settle();
    expect(agent.turns).toEqual([]);
    open();
    (await agent.turn(0)).finish();
    await client.action('x:1', 'session/turnComplete');
    expect(client.types('x:1')).toEqual(['session/turnStarted', 'session/ready', 'session/turnComplete']);
    expect(agent.openings).toHaveLength(1);
  });

  it('[AHP-119] is refused when the session could not be created', async () => {
    const host = await startHost({
      scripts: [{ ...DEFAULT_SCRIPT, createError: { errorType: 'no-key', message: 'No key.' } }],
    });
    const client = await host.client('desk');
    await client.request('createSession', { channel: 'x:1' });
    await client.request('subscribe', { channel: 'x:1' });
    await settle();
    expect(await refusalOf(client, 'x:1', turnStarted('t'))).toContain('could not be created');
  });

  it('[AHP-119] fails early turns of a session whose creation fails', async () => {
    let fail = (_error: Error) => {};
    const agent = new PuppetAgent();
    agent.opening = new Promise((_resolve, reject) => {
      fail = reject;
    });
    const host = await startHost({ agents: [agent] });
    const client = await host.client('desk');
    await client.request('createSession', { channel: 'x:1', provider: 'puppet' });
    await client.request('subscribe', { channel: 'x:1' });
    client.dispatch('x:1', turnStarted('early'));
    await client.action('x:1', 'session/turnStarted');
    fail(new Error('No luck.'));
    await client.action('x:1', 'session/error');
    const state = await stateOf(client, 'x:1');
    expect(state).toMatchObject({ lifecycle: 'creationFailed', turns: [{ id: 'early', state: 'error' }] });
    expect(state.activeTurn).toBeUndefined();
  });
});

describe('cancelling a turn', () => {
  it('[AHP-120] is refused while none runs', async () => {
    const { client, uri } = await openFixture();
    expect(await refusalOf(client, uri, { type: 'session/turnCancelled', turnId: 't1' })).toContain('no turn');
  });

  it('[AHP-120] [REL-022] is refused when the turn is over', async () => {
    const { client, uri } = await openFixture();
    await client.turn(uri, 'hello', 't1');
    expect(await refusalOf(client, uri, { type: 'session/turnCancelled', turnId: 't1' })).toContain('no turn');
    expect((await stateOf(client, uri)).turns).toMatchObject([{ id: 't1', state: 'complete' }]);
  });

  it('[AHP-121] is refused for another turn than the one that runs', async () => {
    const { client, uri, puppet } = await openPuppetFixture();
    expect(await refusalOf(client, uri, { type: 'session/turnCancelled', turnId: 't0' })).toContain('t0');
    expect(puppet.turn.signal.aborted).toBe(false);
    expect(await refusalOf(client, uri, { type: 'session/turnCancelled', turnId: 't1' })).toBeUndefined();
  });

  it('[REL-022] behind a completion that is not stored yet comes too late', async () => {
    const { client, uri, puppet } = await openPuppetFixture();
    puppet.finish();
    await Promise.resolve();
    const reason = await refusalOf(client, uri, { type: 'session/turnCancelled', turnId: 't1' });
    expect(reason).toContain('no turn');
    expect((await stateOf(client, uri)).turns).toMatchObject([{ state: 'complete' }]);
  });

  it('[REL-022] before a completion of the same tick wins, and the completion is dropped', async () => {
    const { client, uri, puppet } = await openPuppetFixture();
    const clientSeq = client.dispatch(uri, { type: 'session/turnCancelled', turnId: 't1' });
    for (let step = 0; step < 20; step++) await Promise.resolve();
    puppet.finish();
    await settle();
    expect(client.types(uri)).not.toContain('session/turnComplete');
    expect((await stateOf(client, uri)).turns).toMatchObject([{ state: 'cancelled' }]);
    expect(client.envelopes(uri).at(-1)?.origin).toEqual({ clientId: 'desk', clientSeq });
  });
});

describe('cutting history', () => {
  it('[AHP-142] is refused for a turn that is not there, and leaves a running one alone', async () => {
    const { client, uri, puppet } = await openPuppetFixture();
    for (const turnId of ['nowhere', '', 't1']) {
      expect(await refusalOf(client, uri, { type: 'session/truncated', turnId })).toContain('no turn');
    }
    expect(puppet.turn.signal.aborted).toBe(false);
  });

  it('[AHP-142] is taken for a finished turn, and for all of them', async () => {
    const { client, uri } = await openFixture();
    for (const id of ['t1', 't2', 't3']) await client.turn(uri, 'hello', id);
    expect(await refusalOf(client, uri, { type: 'session/truncated', turnId: 't2' })).toBeUndefined();
    expect((await stateOf(client, uri)).turns.map(({ id }) => id)).toEqual(['t1', 't2']);
    expect(await refusalOf(client, uri, { type: 'session/truncated' })).toBeUndefined();
    expect((await stateOf(client, uri)).turns).toEqual([]);
  });
});

describe('removing a waiting message', () => {
  const set = (kind: 'queued' | 'steering', id: string) => ({
    type: 'session/pendingMessageSet' as const,
    kind,
    id,
    userMessage: { text: id },
  });

  it('[AHP-134] is refused when nothing of that id and kind waits', async () => {
    const { client, uri } = await openPuppetFixture();
    expect(await refusalOf(client, uri, set('queued', 'q'))).toBeUndefined();
    expect(await refusalOf(client, uri, set('steering', 's'))).toBeUndefined();
    const remove = (kind: 'queued' | 'steering', id: string) =>
      refusalOf(client, uri, { type: 'session/pendingMessageRemoved', kind, id });
    expect(await remove('queued', 's')).toContain('s');
    expect(await remove('steering', 'q')).toContain('q');
    expect(await remove('queued', 'q')).toBeUndefined();
    expect(await remove('steering', 's')).toBeUndefined();
    expect(await remove('queued', 'q')).toContain('q');
    const state = await stateOf(client, uri);
    expect(state.queuedMessages).toBeUndefined();
    expect(state.steeringMessage).toBeUndefined();
  });
});

describe('the id of a turn', () => {
  it('cannot be used again, however long ago that was', async () => {
    const host = await startTestHost();
    const client = await host.client();
    const uri = await client.session();
    await client.turn(uri, 'hello', 'first');
    for (let count = 0; count < 120; count++) await client.turn(uri, 'hello');
    const seq = client.dispatch(uri, turnStarted('first'));
    expect((await answerTo(client, uri, seq)).rejectionReason).toContain('make a new id');
  });

  it('cannot be empty', async () => {
    const host = await startTestHost();
    const client = await host.client();
    const uri = await client.session();
    expect((await answerTo(client, uri, client.dispatch(uri, turnStarted('')))).rejectionReason).toContain(
      'needs an id',
    );
  });
});
