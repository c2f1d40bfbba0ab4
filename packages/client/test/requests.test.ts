import { describe, expect, it } from 'vitest';
import { DisconnectedError, InvalidResultError, RequestError, RequestTimeoutError } from '../src/index.js';
import { connected } from './support/connected.js';
import { settle } from './support/fake-clock.js';
import { Refusal } from './support/fake-host.js';
import { ONE, ROOT, titled } from './support/states.js';

describe('a request', () => {
  it('resolves with the result, and fills in the root channel', async () => {
    const { client, host } = await connected();
    host.scripts.set('resourceRead', () => ({ data: 'hi', encoding: 'utf-8' }));
    expect(await client.request('resourceRead', { uri: 'file:///a' })).toEqual({ data: 'hi', encoding: 'utf-8' });
    expect(host.params('resourceRead')).toEqual([{ channel: ROOT, uri: 'file:///a' }]);
  });

  it('rejects with a typed error when the host refuses', async () => {
    const { client, host } = await connected();
    host.scripts.set('createSession', () => {
      throw new Refusal(-32003, 'taken', { uri: ONE });
    });
    const refused = client.createSession({ channel: ONE });
    await expect(refused).rejects.toBeInstanceOf(RequestError);
    await expect(refused).rejects.toMatchObject({ name: 'SessionAlreadyExists', code: -32003, data: { uri: ONE } });
  });

  it('gives the answer of a method beside the protocol as it is', async () => {
    const { client, host } = await connected();
    host.scripts.set('atrium/other', () => ({ anything: [1] }));
    const method = 'atrium/other' as 'ping';
    expect(await client.request(method, {})).toEqual({ anything: [1] });
  });

  it('keeps a code that nobody knows', async () => {
    const { client, host } = await connected();
    host.scripts.set('ping', () => {
      throw new Refusal(7);
    });
    await expect(client.request('ping', {})).rejects.toMatchObject({ name: 'UnknownError', code: 7 });
  });

  it('gives up at the limit, not before', async () => {
    const { client, clock, host } = await connected({ requestTimeoutMs: 100, heartbeatMs: 1_000_000 });
    host.scripts.set('listSessions', () => ({ items: [] }));
    host.connection.transport.onMessage(() => {});
    const outcome = client.listSessions().catch((error: Error) => error);
    let over = false;
    outcome.then(() => {
      over = true;
    });
    await clock.advance(99);
    expect(over).toBe(false);
    await clock.advance(1);
    expect(await outcome).toBeInstanceOf(RequestTimeoutError);
  });

  it('fails when the connection is lost, and at once while there is none', async () => {
    const { client, host, drop } = await connected();
    host.connection.transport.onMessage(() => {});
    const lost = client.listSessions().catch((error: Error) => error);
    await drop();
    expect(await lost).toBeInstanceOf(DisconnectedError);
    await expect(client.listSessions()).rejects.toBeInstanceOf(DisconnectedError);
  });

  it('rejects a result that the protocol does not allow', async () => {
    const { client, host } = await connected();
    host.scripts.set('listSessions', () => ({ items: [{ resource: 7 }] }));
    await expect(client.listSessions()).rejects.toBeInstanceOf(InvalidResultError);
  });
});

describe('the helpers', () => {
  it('create a session under a new URI', async () => {
    const { client, host } = await connected();
    const uri = await client.createSession({ provider: 'echo' });
    expect(uri).toMatch(/^ahp-session:\/[0-9a-f]{32}$/);
    expect(host.params('createSession')).toEqual([{ channel: uri, provider: 'echo' }]);
  });

  it('dispose of one, which ends its handles', async () => {
    const { client, host } = await connected();
    const one = await client.subscribe(ONE);
    await client.disposeSession(ONE);
    expect(one.isGone).toBe(true);
    expect(host.params('disposeSession')).toEqual([{ channel: ONE }]);
  });

  it('list sessions and fetch turns', async () => {
    const { client, host } = await connected();
    expect((await client.listSessions()).map(({ resource }) => resource)).toContain(ONE);
    expect(await client.fetchTurns(ONE, { limit: 3 })).toEqual({ turns: [], hasMore: false });
    expect(host.params('fetchTurns')).toEqual([{ channel: ONE, limit: 3 }]);
  });
});

describe('close', () => {
  it('ends what waits, and leaves no timer', async () => {
    const { client, clock, host } = await connected();
    const one = await client.subscribe(ONE);
    host.connection.transport.onMessage(() => {});
    const waiting = [client.listSessions(), one.dispatch({ type: 'session/titleChanged', title: 'A' })];
    client.close();
    for (const each of waiting) await expect(each).rejects.toThrow();
    await settle();
    expect(clock.timers).toBe(0);
    expect(client.status).toEqual({ at: 'closed' });
    await expect(client.subscribe(ONE)).rejects.toThrow('The client is closed');
  });
});

describe('an action on a channel that is not subscribed', () => {
  const limited = { requestTimeoutMs: 100, heartbeatMs: 1_000_000 };

  it('is not waited for without end: there may be no such channel', async () => {
    const { client, clock } = await connected(limited);
    const outcome = client.dispatch('ahp-session:/nowhere', titled('A')).catch((error: Error) => error);
    await clock.advance(99);
    expect(await Promise.race([outcome, 'waiting'])).toBe('waiting');
    await clock.advance(1);
    expect(await outcome).toBeInstanceOf(RequestTimeoutError);
    expect(await outcome).toMatchObject({ message: expect.stringContaining('ahp-session:/nowhere') });
  });

  it('has its time from when it was sent, not from when it was asked for', async () => {
    const { client, clock, drop } = await connected(limited);
    await drop();
    const outcome = client.dispatch('ahp-session:/nowhere', titled('A')).catch((error: Error) => error);
    client.reconnectNow();
    await settle();
    expect(client.status.at).toBe('open');
    await clock.advance(99);
    expect(await Promise.race([outcome, 'waiting'])).toBe('waiting');
    await clock.advance(1);
    expect(await outcome).toBeInstanceOf(RequestTimeoutError);
  });
});
