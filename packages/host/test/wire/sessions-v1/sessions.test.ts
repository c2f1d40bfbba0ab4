import { describe, expect, it } from 'vitest';
import { SlowLog } from '../../support/logs.js';
import { startHost } from '../../support/session-fixture.js';
import { sessionsV1Client } from '../../support/sessions-v1-client.js';
import { ROOT, settle } from '../../support/test-host.js';

describe('sessions in sessions-v1', () => {
  it('[V1-007][V1-011] are created as <provider>:/<id>, and others know them by their own name', async () => {
    const host = await startHost();
    const [old, now] = [await sessionsV1Client(host, 'old'), await host.client('now')];
    expect(await old.raw.ask('createSession', { session: 'mock:/one', model: 'small' })).toMatchObject({
      result: null,
    });
    const { items } = await now.request<{ items: object[] }>('listSessions', { channel: ROOT });
    expect(items).toMatchObject([{ resource: 'ahp-session:/one', provider: 'mock', model: { id: 'small' } }]);
    const { error } = await now.ask('createSession', { channel: 'ahp-session:/one' });
    expect(error).toMatchObject({ code: -32003 });
    expect((await old.raw.ask('createSession', { session: 'mock:/one' })).error).toMatchObject({ code: -32003 });
  });

  it('[V1-013] are a bare list for those who spell the root the old way, and an object for the others', async () => {
    const host = await startHost();
    const [old, later] = [
      await sessionsV1Client(host, 'old'),
      await sessionsV1Client(host, 'later', 'agenthost:/root'),
    ];
    await old.raw.request('createSession', { session: 'mock:/one' });
    const summary = { resource: 'mock:/one', provider: 'mock', status: 'idle' };
    expect((await old.raw.ask('listSessions')).result).toMatchObject([summary]);
    expect((await later.raw.ask('listSessions')).result).toMatchObject({ sessions: [summary], items: [summary] });
  });

  it('[V1-008] are subscribed by `resource`; the answer is the snapshot itself', async () => {
    const host = await startHost();
    const [old, later] = [
      await sessionsV1Client(host, 'old'),
      await sessionsV1Client(host, 'later', 'agenthost:/root'),
    ];
    await old.raw.request('createSession', { session: 'mock:/one' });
    const bare = await old.subscribe('mock:/one');
    expect(Object.keys(bare).sort()).toEqual(['fromSeq', 'resource', 'state']);
    const wrapped = await later.subscribe('mock:/one');
    expect(wrapped).toMatchObject({ resource: 'mock:/one', snapshot: { resource: 'mock:/one', state: { turns: [] } } });
  });

  it('[V1-008][V1-013] a client that first spells the root with a slash when it subscribes is of the later kind', async () => {
    const host = await startHost();
    const raw = host.connect();
    await raw.request('initialize', { protocolVersion: 1, clientId: 'late' });
    expect((await raw.ask('listSessions')).result).toEqual([]);
    const answer = await raw.request<Record<string, unknown>>('subscribe', { resource: 'agenthost:/root' });
    expect(answer).toMatchObject({ resource: 'agenthost:/root', snapshot: { resource: 'agenthost:/root' } });
    expect((await raw.ask('listSessions')).result).toEqual({ sessions: [], items: [] });
  });

  it('[V1-009] are unsubscribed by `resource`', async () => {
    const host = await startHost();
    const [old, now] = [await sessionsV1Client(host, 'old'), await host.client('now')];
    const uri = await now.session('ahp-session:/one');
    await old.subscribe('mock:/one');
    old.raw.send({ method: 'unsubscribe', params: { resource: 'mock:/one' } });
    await settle();
    await now.turn(uri, 'hello');
    await settle();
    expect(old.envelopes('mock:/one')).toEqual([]);
  });

  it('[V1-012] are disposed by `session`', async () => {
    const host = await startHost();
    const old = await sessionsV1Client(host, 'old');
    await old.raw.request('createSession', { session: 'mock:/one' });
    expect(await old.raw.ask('disposeSession', { session: 'mock:/one' })).toMatchObject({ result: null });
    expect((await old.raw.ask('disposeSession', { session: 'mock:/one' })).error).toMatchObject({ code: -32001 });
  });

  it('[V1-014] are paged, or sliced by index', async () => {
    const host = await startHost();
    const [old, now] = [await sessionsV1Client(host, 'old'), await host.client('now')];
    const uri = await now.session('ahp-session:/one');
    for (const id of ['a', 'b', 'c']) await now.turn(uri, 'hello', id);
    const session = 'mock:/one';
    expect(await old.raw.request('fetchTurns', { session, before: 'c', limit: 1 })).toMatchObject({
      turns: [{ id: 'b', responseText: 'Hello there' }],
      hasMore: true,
    });
    expect(await old.raw.request('fetchTurns', { session, startTurn: 1, count: 5 })).toMatchObject({
      session,
      startTurn: 1,
      totalTurns: 3,
      turns: [{ id: 'b' }, { id: 'c' }],
    });
  });
});

describe('news of sessions', () => {
  it('[V1-019][V1-064][V1-065] reach every sessions-v1 connection, subscribed to the root or not', async () => {
    const host = await startHost();
    const watching = await sessionsV1Client(host, 'watching');
    const blind = host.connect();
    await blind.request('initialize', { protocolVersion: 1, clientId: 'blind' });
    const now = await host.client('now');
    const uri = await now.session('ahp-session:/one');
    await now.request('disposeSession', { channel: uri });
    await settle();
    const added = { type: 'notify/sessionAdded', summary: { resource: 'mock:/one', provider: 'mock' } };
    const removed = { type: 'notify/sessionRemoved', session: 'mock:/one' };
    for (const { received } of [watching.raw, blind]) {
      const told = received.filter(({ method }) => method === 'notification').map(({ params }) => params);
      expect(told).toMatchObject([{ notification: added }, { notification: removed }]);
      for (const params of told) expect(params).not.toHaveProperty('channel');
    }
  });

  it('[V1-066][V1-060] leave out what sessions-v1 does not know', async () => {
    const host = await startHost();
    const [old, now] = [await sessionsV1Client(host, 'old'), await host.client('now')];
    const uri = await now.session('ahp-session:/one');
    await now.turn(uri, 'hello');
    await now.until(({ method }) => method === 'root/sessionSummaryChanged');
    await settle();
    expect(old.notifications().map(({ type }) => type)).toEqual(['notify/sessionAdded']);
    expect(old.types()).toEqual([]);
  });

  it('[V1-001] no frame to sessions-v1 has a channel in it', async () => {
    const host = await startHost();
    const [old, now] = [await sessionsV1Client(host, 'old'), await host.client('now')];
    const uri = await now.session('ahp-session:/one');
    await old.subscribe('mock:/one');
    await now.turn(uri, 'hello');
    await old.action('session/turnComplete');
    expect(JSON.stringify(old.raw.received)).not.toContain('ahp-');
    expect(old.raw.received.filter(({ params }) => params && 'channel' in params)).toEqual([]);
  });

  it('are not told before the handshake is answered, even when the client sends rubbish meanwhile', async () => {
    const log = new SlowLog();
    const first = await startHost({ log });
    await (await first.client()).session('ahp-session:/resting');
    await first.stop();
    const host = await startHost({ log });
    const now = await host.client('now');
    const open = await now.session('ahp-session:/open');
    const letThrough = log.hold('openChannel');
    const old = host.connect();
    const hello = { protocolVersion: 1, clientId: 'old', initialSubscriptions: ['mock:/resting'] };
    old.send({ id: 1, method: 'initialize', params: hello });
    await settle();
    old.sendText('rubbish');
    await settle();
    await now.request('disposeSession', { channel: open });
    letThrough();
    await old.until(({ method }) => method === 'notification');
    expect(old.received.map(({ id, method }) => method ?? id)).toEqual([null, 1, 'notification']);
  });
});
