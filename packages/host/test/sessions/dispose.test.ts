import { MemoryLog } from '@atrium/core/log/memory-log.js';
import { DISPOSED_KEPT_MS } from '@atrium/core/sessions/limits.js';
import { ErrorCode, type SessionSummary } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../support/fake-clock.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { openFixture, openPuppetFixture, startHost, stateOf, turnStarted } from '../support/session-fixture.js';
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
    const { client, uri } = await openFixture();
    expect(await client.ask('disposeSession', { channel: uri })).toMatchObject({ result: null });
    for (const method of ['disposeSession', 'subscribe', 'fetchTurns']) {
      expect(await client.ask(method, { channel: uri })).toMatchObject({ error: { code: ErrorCode.SessionNotFound } });
    }
    expect(await listed(client)).toEqual([]);
  });

  it('[AHP-049] refuses a session that never was', async () => {
    const { client } = await openFixture();
    const answer = await client.ask('disposeSession', { channel: 'ahp-session:/nowhere' });
    expect(answer.error?.code).toBe(ErrorCode.SessionNotFound);
  });

  it('[AHP-086] [AHP-166] tells those who watch the root, and counts one less', async () => {
    const { client, uri, host } = await openFixture();
    const phone = await host.client();
    await client.request('disposeSession', { channel: uri });
    await phone.until(({ method }) => method === 'root/sessionRemoved');
    expect(removals(phone)).toEqual([uri]);
    await phone.action(ROOT, (action) => action.type === 'root/activeSessionsChanged');
    expect(await phone.state(ROOT)).toMatchObject({ activeSessions: 0 });
  });

  it('[AHP-166] ends the subscriptions: what is done to it later is nobody’s business', async () => {
    const { client, uri, join } = await openFixture();
    const phone = await join('phone');
    await client.request('disposeSession', { channel: uri });
    await client.request('atrium/restoreSession', { channel: uri });
    const before = phone.types(uri).length;
    await client.request('subscribe', { channel: uri });
    await client.turn(uri, 'hello');
    expect(phone.types(uri)).toHaveLength(before);
  });

  it('[AHP-165] aborts a running turn and closes the agent; the turn is on record as cancelled', async () => {
    const { client, uri, agent, puppet, join } = await openPuppetFixture();
    const phone = await join('phone');
    puppet.turn.text('so far');
    await client.request('disposeSession', { channel: uri });
    expect(puppet.turn.signal.aborted).toBe(true);
    expect(phone.types(uri).at(-1)).toBe('session/turnCancelled');
    await settle();
    expect(agent.closings).toBe(1);
    await client.request('atrium/restoreSession', { channel: uri });
    const { turns, activeTurn } = await stateOf(client, uri);
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
    const client = await host.client();
    await client.request('createSession', { channel: 'x:1', provider: 'puppet' });
    await client.request('disposeSession', { channel: 'x:1' });
    open();
    await settle();
    expect(await listed(client)).toEqual([]);
  });

  it('stays disposed when somebody renames it in the same moment', async () => {
    const { client, uri, join } = await openFixture();
    const phone = await join('phone');
    const disposed = client.ask('disposeSession', { channel: uri });
    phone.dispatch(uri, { type: 'session/titleChanged', title: 'Mine' });
    phone.dispatch(uri, turnStarted('late', 'hello'));
    expect(await disposed).toMatchObject({ result: null });
    await settle();
    expect(await listed(client)).toEqual([]);
    expect(phone.types(uri)).not.toContain('session/turnComplete');
  });

  it('is done once when two clients want it in the same moment', async () => {
    const { client, uri, join } = await openFixture();
    const phone = await join('phone');
    const answers = await Promise.all([client, phone].map((client) => client.ask('disposeSession', { channel: uri })));
    expect(answers.map(({ error }) => error?.code).sort()).toEqual([ErrorCode.SessionNotFound, undefined]);
    await settle();
    expect(removals(client)).toEqual([uri]);
  });

  it('[AHP-043] keeps the URI: nobody else can take it', async () => {
    const { client, uri } = await openFixture();
    await client.request('disposeSession', { channel: uri });
    const { error } = await client.ask('createSession', { channel: uri });
    expect(error?.code).toBe(ErrorCode.SessionAlreadyExists);
    expect(error?.message).toContain('restore');
  });
});

describe('restoring a session', () => {
  it('brings it back with all its turns, on the list and for everyone', async () => {
    const { client, uri, host } = await openFixture();
    for (const text of ['one', 'two', 'three']) await client.turn(uri, text);
    const before = await stateOf(client, uri);
    await client.request('disposeSession', { channel: uri });
    const phone = await host.client();
    expect(await client.ask('atrium/restoreSession', { channel: uri })).toMatchObject({ result: null });
    const added = await phone.until(({ method }) => method === 'root/sessionAdded');
    expect(added.params?.summary).toEqual(before.summary);
    expect(await listed(phone)).toEqual([uri]);
    expect(await stateOf(phone, uri)).toEqual(before);
    await phone.turn(uri, 'hello');
    expect((await stateOf(phone, uri)).turns).toHaveLength(4);
  });

  it('works after a restart of the host too', async () => {
    const log = new MemoryLog();
    const first = await startTestHost({ log });
    const client = await first.client('desk');
    const uri = await client.session();
    await client.turn(uri, 'hello');
    const before = await stateOf(client, uri);
    await client.request('disposeSession', { channel: uri });
    await settle();
    const second = await startHost({ log });
    const phone = await second.client('phone');
    expect(await listed(phone)).toEqual([]);
    await phone.request('atrium/restoreSession', { channel: uri });
    expect(await stateOf(phone, uri)).toEqual(before);
  });

  it('lists what can be restored, with when it was disposed', async () => {
    const { client, uri } = await openFixture();
    expect(await client.request('atrium/listDisposed', {})).toEqual({ items: [] });
    const { summary } = await stateOf(client, uri);
    await client.request('disposeSession', { channel: uri });
    const items = [{ summary, disposedAt: expect.any(Number) }];
    expect(await client.request('atrium/listDisposed', {})).toMatchObject({ items });
    await client.request('atrium/restoreSession', { channel: uri });
    expect(await client.request('atrium/listDisposed', {})).toEqual({ items: [] });
  });

  it('refuses a session that is not disposed, or never was', async () => {
    const { client, uri } = await openFixture();
    for (const channel of [uri, 'ahp-session:/nowhere']) {
      const answer = await client.ask('atrium/restoreSession', { channel });
      expect(answer.error?.code).toBe(ErrorCode.SessionNotFound);
    }
  });

  it('goes on creating a session that was disposed of before it was ready', async () => {
    const agent = new PuppetAgent();
    let open = () => {};
    agent.opening = new Promise((resolve) => {
      open = resolve;
    });
    const host = await startHost({ agents: [agent] });
    const client = await host.client('desk');
    const uri = 'ahp-session:/early';
    await client.request('createSession', { channel: uri, provider: 'puppet' });
    await client.request('disposeSession', { channel: uri });
    open();
    await client.request('atrium/restoreSession', { channel: uri });
    await client.request('subscribe', { channel: uri });
    await expect.poll(async () => (await stateOf(client, uri)).lifecycle, { timeout: 10_000 }).toBe('ready');
  });

  it('is done once when two clients want it in the same moment', async () => {
    const { client, uri, join } = await openFixture();
    const phone = await join('phone');
    await client.request('disposeSession', { channel: uri });
    await Promise.all([client, phone].map((client) => client.ask('atrium/restoreSession', { channel: uri })));
    await settle();
    const added = phone.received.filter(({ method }) => method === 'root/sessionAdded');
    expect(added).toHaveLength(1);
  });
});

describe('forgetting disposed sessions', () => {
  async function disposeAndReturnAfter(milliseconds: number) {
    const log = new MemoryLog();
    const clock = new FakeClock();
    const first = await startTestHost({ log, clock });
    const client = await first.client('desk');
    const uri = await client.session();
    await client.turn(uri, 'hello');
    await client.request('disposeSession', { channel: uri });
    await settle();
    await clock.advance(milliseconds);
    const second = await startHost({ log, clock: new FakeClock(clock.now()) });
    return { client: await second.client('phone'), uri, log };
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
