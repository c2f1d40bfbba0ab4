import { ErrorCode, type SessionSummary } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { DISPOSED_KEPT_MS } from '../../src/limits.js';
import { MemoryLog } from '../../src/log/memory-log.js';
import { FakeClock } from '../support/fake-clock.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { openPuppetRoom, openRoom, startHost, stateOf, turnStarted } from '../support/session-room.js';
import { type RawClient, ROOT, settle, startTestHost } from '../support/test-host.js';

async function listed(client: RawClient): Promise<string[]> {
  const { items } = await client.request<{ items: SessionSummary[] }>('listSessions', { channel: ROOT });
  return items.map(({ resource }) => resource);
}

function removals(client: RawClient): unknown[] {
  return client.received.flatMap(({ method, params }) => (method === 'root/sessionRemoved' ? params?.session : []));
}

describe('disposing of a session', () => {
  it('[AHP-049] answers null, and then no longer knows it', async () => {
    const { alice, uri } = await openRoom();
    expect(await alice.ask('disposeSession', { channel: uri })).toMatchObject({ result: null });
    for (const method of ['disposeSession', 'subscribe', 'fetchTurns']) {
      expect(await alice.ask(method, { channel: uri })).toMatchObject({ error: { code: ErrorCode.SessionNotFound } });
    }
    expect(await listed(alice)).toEqual([]);
  });

  it('[AHP-049] refuses a session that never was', async () => {
    const { alice } = await openRoom();
    const answer = await alice.ask('disposeSession', { channel: 'ahp-session:/nowhere' });
    expect(answer.error?.code).toBe(ErrorCode.SessionNotFound);
  });

  it('[AHP-086] [AHP-166] tells those who watch the root, and counts one less', async () => {
    const { alice, uri, host } = await openRoom();
    const bob = await host.client();
    await alice.request('disposeSession', { channel: uri });
    await bob.until(({ method }) => method === 'root/sessionRemoved');
    expect(removals(bob)).toEqual([uri]);
    await bob.action(ROOT, (action) => action.type === 'root/activeSessionsChanged');
    expect(await bob.state(ROOT)).toMatchObject({ activeSessions: 0 });
  });

  it('[AHP-166] ends the subscriptions: what is done to it later is nobody’s business', async () => {
    const { alice, uri, join } = await openRoom();
    const bob = await join('bob');
    await alice.request('disposeSession', { channel: uri });
    await alice.request('atrium/restoreSession', { channel: uri });
    const before = bob.types(uri).length;
    await alice.request('subscribe', { channel: uri });
    await alice.turn(uri, 'hello');
    expect(bob.types(uri)).toHaveLength(before);
  });

  it('[AHP-165] aborts a running turn and closes the agent; the turn is on record as cancelled', async () => {
    const { alice, uri, agent, puppet, join } = await openPuppetRoom();
    const bob = await join('bob');
    puppet.turn.text('so far');
    await alice.request('disposeSession', { channel: uri });
    expect(puppet.turn.signal.aborted).toBe(true);
    expect(bob.types(uri).at(-1)).toBe('session/turnCancelled');
    await settle();
    expect(agent.closings).toBe(1);
    await alice.request('atrium/restoreSession', { channel: uri });
    const { turns, activeTurn } = await stateOf(alice, uri);
    expect(activeTurn).toBeUndefined();
    expect(turns).toMatchObject([{ id: 't1', state: 'cancelled', responseParts: [{ content: 'so far' }] }]);
  });

  it('stays disposed when its agent is ready only afterwards', async () => {
    let open = () => {};
    const agent = new PuppetAgent();
    agent.opening = new Promise((resolve) => {
      open = resolve;
    });
    const host = await startHost({ agents: [agent] });
    const alice = await host.client();
    await alice.request('createSession', { channel: 'x:1', provider: 'puppet' });
    await alice.request('disposeSession', { channel: 'x:1' });
    open();
    await settle();
    expect(await listed(alice)).toEqual([]);
  });

  it('stays disposed when somebody renames it in the same moment', async () => {
    const { alice, uri, join } = await openRoom();
    const bob = await join('bob');
    const disposed = alice.ask('disposeSession', { channel: uri });
    bob.dispatch(uri, { type: 'session/titleChanged', title: 'Mine' });
    bob.dispatch(uri, turnStarted('late', 'hello'));
    expect(await disposed).toMatchObject({ result: null });
    await settle();
    expect(await listed(alice)).toEqual([]);
    expect(bob.types(uri)).not.toContain('session/turnComplete');
  });

  it('is done once when two clients want it in the same moment', async () => {
    const { alice, uri, join } = await openRoom();
    const bob = await join('bob');
    const answers = await Promise.all([alice, bob].map((client) => client.ask('disposeSession', { channel: uri })));
    expect(answers.map(({ error }) => error?.code).sort()).toEqual([ErrorCode.SessionNotFound, undefined]);
    await settle();
    expect(removals(alice)).toEqual([uri]);
  });

  it('[AHP-043] keeps the URI: nobody else can take it', async () => {
    const { alice, uri } = await openRoom();
    await alice.request('disposeSession', { channel: uri });
    const { error } = await alice.ask('createSession', { channel: uri });
    expect(error?.code).toBe(ErrorCode.SessionAlreadyExists);
    expect(error?.message).toContain('restore');
  });
});

describe('restoring a session', () => {
  it('brings it back with all its turns, on the list and for everyone', async () => {
    const { alice, uri, host } = await openRoom();
    for (const text of ['one', 'two', 'three']) await alice.turn(uri, text);
    const before = await stateOf(alice, uri);
    await alice.request('disposeSession', { channel: uri });
    const bob = await host.client();
    expect(await alice.ask('atrium/restoreSession', { channel: uri })).toMatchObject({ result: null });
    const added = await bob.until(({ method }) => method === 'root/sessionAdded');
    expect(added.params?.summary).toEqual(before.summary);
    expect(await listed(bob)).toEqual([uri]);
    expect(await stateOf(bob, uri)).toEqual(before);
    await bob.turn(uri, 'hello');
    expect((await stateOf(bob, uri)).turns).toHaveLength(4);
  });

  it('works after a restart of the host too', async () => {
    const log = new MemoryLog();
    const first = await startTestHost({ log });
    const alice = await first.client('alice');
    const uri = await alice.session();
    await alice.turn(uri, 'hello');
    const before = await stateOf(alice, uri);
    await alice.request('disposeSession', { channel: uri });
    await settle();
    const second = await startHost({ log });
    const bob = await second.client('bob');
    expect(await listed(bob)).toEqual([]);
    await bob.request('atrium/restoreSession', { channel: uri });
    expect(await stateOf(bob, uri)).toEqual(before);
  });

  it('refuses a session that is not disposed, or never was', async () => {
    const { alice, uri } = await openRoom();
    for (const channel of [uri, 'ahp-session:/nowhere']) {
      const answer = await alice.ask('atrium/restoreSession', { channel });
      expect(answer.error?.code).toBe(ErrorCode.SessionNotFound);
    }
  });

  it('is done once when two clients want it in the same moment', async () => {
    const { alice, uri, join } = await openRoom();
    const bob = await join('bob');
    await alice.request('disposeSession', { channel: uri });
    await Promise.all([alice, bob].map((client) => client.ask('atrium/restoreSession', { channel: uri })));
    await settle();
    const added = bob.received.filter(({ method }) => method === 'root/sessionAdded');
    expect(added).toHaveLength(1);
  });
});

describe('forgetting disposed sessions', () => {
  async function disposeAndReturnAfter(milliseconds: number) {
    const log = new MemoryLog();
    const clock = new FakeClock();
    const first = await startTestHost({ log, clock });
    const alice = await first.client('alice');
    const uri = await alice.session();
    await alice.turn(uri, 'hello');
    await alice.request('disposeSession', { channel: uri });
    await settle();
    await clock.advance(milliseconds);
    const second = await startHost({ log, clock: new FakeClock(clock.now()) });
    return { client: await second.client('bob'), uri, log };
  }

  it('keeps one for thirty days', async () => {
    const { client, uri } = await disposeAndReturnAfter(DISPOSED_KEPT_MS);
    expect(await client.ask('atrium/restoreSession', { channel: uri })).toMatchObject({ result: null });
    expect((await stateOf(client, uri)).turns).toHaveLength(1);
  });

  it('forgets it after that, and its URI is free again', async () => {
    const { client, uri, log } = await disposeAndReturnAfter(DISPOSED_KEPT_MS + 1);
    const answer = await client.ask('atrium/restoreSession', { channel: uri });
    expect(answer.error?.code).toBe(ErrorCode.SessionNotFound);
    expect(await log.archiveHead(uri)).toBeUndefined();
    await client.session(uri);
    expect((await stateOf(client, uri)).turns).toEqual([]);
  });
});
