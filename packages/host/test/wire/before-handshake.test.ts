import { HANDSHAKE_TIMEOUT_MS, REQUESTS_BEFORE_HANDSHAKE_MAX } from '@atrium/core/wire/limits.js';
import { CloseCode } from '@atrium/core/wire/transport.js';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../support/fake-clock.js';
import { startHost } from '../support/session-fixture.js';
import { ROOT, settle } from '../support/test-host.js';

const hello = { channel: ROOT, protocolVersions: ['0.3.0'], clientId: 'desk' };

describe('before the handshake', () => {
  it('[AHP-015][AHP-090] every other request is refused with -32600, and the connection stays usable', async () => {
    const host = await startHost();
    const client = host.connect();
    for (const method of ['subscribe', 'listSessions', 'createSession', 'nonsense']) {
      expect((await client.ask(method, { channel: ROOT })).error).toMatchObject({ code: -32600 });
    }
    expect(await client.initialize('desk')).toMatchObject({ protocolVersion: '0.3.0' });
  });

  it('[AHP-007] notifications are ignored', async () => {
    const host = await startHost();
    const client = host.connect();
    client.send({ method: 'unsubscribe', params: { channel: ROOT } });
    client.dispatch(ROOT, { type: 'root/configChanged' });
    await settle();
    expect(client.received).toEqual([]);
  });

  it('[REL-009] of 1,000 requests a few are answered, then the connection is closed; others are not affected', async () => {
    const host = await startHost();
    const client = host.connect();
    for (let id = 1; id <= 1_000; id++) client.send({ id, method: 'listSessions', params: { channel: ROOT } });
    expect(await client.untilClosed()).toMatchObject({ code: CloseCode.PolicyViolation });
    await settle();
    expect(client.received.length).toBeLessThanOrEqual(REQUESTS_BEFORE_HANDSHAKE_MAX);
    expect(await (await host.client()).request('listSessions', { channel: ROOT })).toEqual({ items: [] });
  });

  it('[REL-009] exactly as many as are allowed do no harm', async () => {
    const host = await startHost();
    const client = host.connect();
    for (let tries = 1; tries < REQUESTS_BEFORE_HANDSHAKE_MAX; tries++) await client.ask('listSessions');
    expect(await client.initialize('desk')).toMatchObject({ protocolVersion: '0.3.0' });
    expect(client.closed).toBeUndefined();
  });

  it('what is sent right behind initialize, without waiting for its answer, does not count', async () => {
    const host = await startHost();
    const client = host.connect();
    client.send({ id: 1, method: 'initialize', params: hello });
    for (let id = 2; id <= 200; id++) client.send({ id, method: 'listSessions', params: { channel: ROOT } });
    await client.until(({ id }) => id === 200);
    expect(client.received.map(({ id, error }) => [id, error])).toEqual(
      Array.from({ length: 200 }, (_, index) => [index + 1, undefined]),
    );
  });

  it('who says nothing is sent away after a while; who has said hello is not', async () => {
    const clock = new FakeClock();
    const host = await startHost({ clock });
    const [silent, polite] = [host.connect(), host.connect()];
    await polite.initialize('polite');
    await clock.advance(HANDSHAKE_TIMEOUT_MS - 1);
    expect(silent.closed).toBeUndefined();
    await clock.advance(1);
    expect(silent.closed).toMatchObject({ code: CloseCode.HandshakeTimeout });
    expect(polite.closed).toBeUndefined();
  });
});

describe('a handshake that fails', () => {
  it.each([
    ['no client id', { clientId: undefined }],
    ['a client id that is no text', { clientId: 5 }],
    ['no versions', { protocolVersions: undefined }],
    ['versions that are no list', { protocolVersions: '0.3.0' }],
    ['a version that is none', { protocolVersions: ['0.3.0', 'latest'] }],
    ['a range', { protocolVersions: ['^0.2.0'] }],
    ['subscriptions that are no list', { initialSubscriptions: ROOT }],
    ['a locale that is no text', { locale: 7 }],
  ])('[AHP-019] %s: -32602, and the next try may succeed', async (_name, members) => {
    const host = await startHost();
    const client = host.connect();
    expect((await client.ask('initialize', { ...hello, ...members })).error).toMatchObject({ code: -32602 });
    expect((await client.ask('initialize', hello)).error).toBeUndefined();
  });

  it('[AHP-018] no acceptable version: an error, and then the connection is closed', async () => {
    const host = await startHost();
    const client = host.connect();
    const { error } = await client.ask('initialize', { ...hello, protocolVersions: ['0.1.0', '2.0.0'] });
    expect(error).toMatchObject({ code: -32005 });
    expect(await client.untilClosed()).toMatchObject({ code: CloseCode.UnsupportedVersion });
  });
});

describe('a second handshake', () => {
  it.each([
    ['initialize', hello],
    ['reconnect', { channel: ROOT, clientId: 'desk', lastSeenServerSeq: 0, subscriptions: [] }],
  ])('[AHP-016] %s is refused with -32600, and changes nothing', async (method, params) => {
    const host = await startHost();
    const client = await host.client('desk');
    expect((await client.ask(method, params)).error).toMatchObject({ code: -32600 });
    const uri = await client.session();
    expect(await client.turn(uri, 'hello')).toBeDefined();
  });
});
