import { describe, expect, it } from 'vitest';
import { SlowLog } from '../support/logs.js';
import { startHost } from '../support/session-fixture.js';
import { ROOT, settle } from '../support/test-host.js';

describe('ping', () => {
  it('[AHP-025][REL-009] is answered before initialize, and without subscriptions', async () => {
    const host = await startHost();
    const client = host.connect();
    expect(await client.ask('ping', { channel: ROOT })).toMatchObject({ result: null });
    await client.initialize('desk', { initialSubscriptions: [] });
    expect(await client.ask('ping', { channel: ROOT })).toMatchObject({ result: null });
  });

  it('[AHP-025] needs no parameters, and is refused with wrong ones', async () => {
    const host = await startHost();
    const client = host.connect();
    const ping = async (id: number, params?: unknown) => {
      client.send({ id, method: 'ping', ...(params !== undefined && { params }) });
      return client.until((message) => message.id === id);
    };
    expect(await ping(101)).toMatchObject({ result: null });
    expect(await ping(102, { channel: 5 })).toMatchObject({ error: { code: -32602 } });
    await client.initialize('desk', { protocolVersions: ['1.0.0'] });
    expect(await ping(103)).toMatchObject({ result: null });
    expect(await ping(104, {})).toMatchObject({ error: { code: -32602 } });
  });

  it('[AHP-025][REL-009] overtakes a slow request', async () => {
    const log = new SlowLog();
    const first = await startHost({ log });
    const uri = await (await first.client()).session();
    await first.stop();
    const host = await startHost({ log });
    const client = await host.client();
    const letThrough = log.hold('openChannel');
    const slow = client.ask('subscribe', { channel: uri });
    expect(await client.ask('ping', { channel: ROOT })).toMatchObject({ result: null });
    await settle();
    expect(client.received.filter(({ result }) => JSON.stringify(result)?.includes(uri))).toEqual([]);
    letThrough();
    expect(await slow).toMatchObject({ result: { snapshot: { resource: uri } } });
  });

  it('[AHP-025] is answered while the handshake itself is slow', async () => {
    const log = new SlowLog();
    const host = await startHost({ log });
    const letThrough = log.hold('record');
    const client = host.connect();
    const handshake = client.initialize('desk');
    expect(await client.ask('ping', { channel: ROOT })).toMatchObject({ result: null });
    letThrough();
    expect(await handshake).toMatchObject({ protocolVersion: '0.3.0' });
  });
});
