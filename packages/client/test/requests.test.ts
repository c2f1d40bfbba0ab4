import { describe, expect, it } from 'vitest';
import { DisconnectedError, InvalidResultError, RequestError, RequestTimeoutError } from '../src/index.js';
import { SESSION_PAGES_MAX, SESSIONS_PER_PAGE } from '../src/session-pages.js';
import { connected } from './support/connected.js';
import { settle } from './support/fake-clock.js';
import { Refusal } from './support/fake-host.js';
import { drafted, ONE, ROOT, SESSION, summary, TWO } from './support/states.js';

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
    expect(await client.requestExtension('atrium/other', { a: 1 })).toEqual({ anything: [1] });
    expect(host.params('atrium/other')).toEqual([{ channel: ROOT, a: 1 }]);
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
    expect(host.params('createSession')).toEqual([{ channel: uri, provider: 'echo', progressToken: uri }]);
  });

  it('dispose of one, which ends its handles and those of its chats', async () => {
    const { client, host } = await connected();
    const [session, one, two] = await Promise.all([
      client.subscribe(SESSION),
      client.subscribe(ONE),
      client.subscribe(TWO),
    ]);
    await client.disposeSession(SESSION);
    expect([session.isGone, one.isGone, two.isGone]).toEqual([true, true, false]);
    expect(host.params('disposeSession')).toEqual([{ channel: SESSION }]);
  });

  it('create a chat under a new URI, and dispose of it', async () => {
    const { client, host } = await connected();
    const source = { kind: 'fork', chat: ONE, turnId: 't' } as const;
    const uri = await client.createChat(SESSION, { source });
    expect(uri).toMatch(/^ahp-chat:\/[0-9a-f]{32}$/);
    expect(host.params('createChat')).toEqual([{ channel: SESSION, chat: uri, source }]);
    const one = await client.subscribe(ONE);
    await client.disposeChat(ONE);
    expect(one.isGone).toBe(true);
    expect(host.params('disposeChat')).toEqual([{ channel: ONE }]);
  });

  it('[GRO-004] list the sessions of all pages, each once', async () => {
    const { client, host } = await connected();
    const pages: Record<string, object> = {
      first: { items: [summary('ahp-session:/a'), summary('ahp-session:/b')], nextCursor: 'second' },
      second: { items: [summary('ahp-session:/b'), summary('ahp-session:/c')] },
    };
    host.scripts.set('listSessions', ({ cursor = 'first' }) => pages[cursor as string]);
    expect((await client.listSessions()).map(({ resource }) => resource.at(-1))).toEqual(['a', 'b', 'c']);
    expect(host.params('listSessions').map(({ cursor, limit }) => [cursor, limit])).toEqual([
      [undefined, SESSIONS_PER_PAGE],
      ['second', SESSIONS_PER_PAGE],
    ]);
  });

  it('list sessions no longer than a host can have pages', async () => {
    const { client, host } = await connected();
    host.scripts.set('listSessions', () => ({ items: [], nextCursor: 'again' }));
    await expect(client.listSessions()).rejects.toThrow(`after ${SESSION_PAGES_MAX} pages`);
    expect(host.params('listSessions')).toHaveLength(SESSION_PAGES_MAX);
  });
});

describe('close', () => {
  it('ends what waits, and leaves no timer', async () => {
    const { client, clock, host } = await connected();
    const one = await client.subscribe(ONE);
    host.connection.transport.onMessage(() => {});
    const waiting = [client.listSessions(), one.dispatch(drafted('A'))];
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
    const outcome = client.dispatch('ahp-session:/nowhere', drafted('A')).catch((error: Error) => error);
    await clock.advance(99);
    expect(await Promise.race([outcome, 'waiting'])).toBe('waiting');
    await clock.advance(1);
    expect(await outcome).toBeInstanceOf(RequestTimeoutError);
    expect(await outcome).toMatchObject({ message: expect.stringContaining('ahp-session:/nowhere') });
  });

  it('has its time from when it was sent, not from when it was asked for', async () => {
    const { client, clock, drop } = await connected(limited);
    await drop();
    const outcome = client.dispatch('ahp-session:/nowhere', drafted('A')).catch((error: Error) => error);
    client.reconnectNow();
    await settle();
    expect(client.status.at).toBe('open');
    await clock.advance(99);
    expect(await Promise.race([outcome, 'waiting'])).toBe('waiting');
    await clock.advance(1);
    expect(await outcome).toBeInstanceOf(RequestTimeoutError);
  });
});
