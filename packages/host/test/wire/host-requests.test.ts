import type { Connection } from '@atrium/core/wire/connection.js';
import { HostRequestQueue } from '@atrium/core/wire/inbound.js';
import { FIRST_HOST_REQUEST_ID, HOST_REQUEST_TIMEOUT_MS } from '@atrium/core/wire/limits.js';
import { ROOT_CHANNEL } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../support/fake-clock.js';
import { componentsOf } from '../support/host-components.js';
import { SlowLog } from '../support/logs.js';
import { startHost } from '../support/session-fixture.js';
import { sessionsV1Client } from '../support/sessions-v1-client.js';
import { ROOT, settle, type TestHost } from '../support/test-host.js';

function queue() {
  const clock = new FakeClock();
  const posted: { id: number; method: string; params: object }[] = [];
  const requests = new HostRequestQueue(clock, (message) => void posted.push(message as (typeof posted)[number]));
  return { clock, posted, requests };
}

const params = { channel: ROOT_CHANNEL, uri: 'virtual:/plugin' } as const;

describe('requests of the host', () => {
  it('[REL-023][AHP-005] have numbers from 1,000,000,001 on, one after the other', async () => {
    const { posted, requests } = queue();
    void requests.send('resourceRead', params);
    void requests.send('resourceList', params);
    expect(posted.map(({ id }) => id)).toEqual([1_000_000_001, 1_000_000_002]);
    expect(FIRST_HOST_REQUEST_ID).toBe(1_000_000_001);
    expect(posted[0]).toEqual({ jsonrpc: '2.0', id: 1_000_000_001, method: 'resourceRead', params });
  });

  it('[AHP-006][REL-023] take the answer with their number, in whatever order they come', async () => {
    const { requests } = queue();
    const [first, second] = [requests.send('resourceRead', params), requests.send('resourceList', params)];
    requests.answered({ kind: 'success', id: 1_000_000_002, result: 'second' });
    requests.answered({ kind: 'success', id: 1_000_000_001, result: 'first' });
    expect(await Promise.all([first, second])).toEqual(['first', 'second']);
  });

  it('[REL-023] a second answer, one to nobody, and one without a number do nothing', async () => {
    const { requests } = queue();
    const answer = requests.send('resourceRead', params);
    const error = { code: -32601, message: 'no' };
    requests.answered({ kind: 'failure', id: null, error });
    requests.answered({ kind: 'success', id: 7, result: 'not yours' });
    requests.answered({ kind: 'success', id: 1_000_000_001, result: 'yes' });
    requests.answered({ kind: 'failure', id: 1_000_000_001, error });
    expect(await answer).toBe('yes');
  });

  it('fail with the error of the client', async () => {
    const { requests } = queue();
    const answer = requests.send('resourceRead', params);
    requests.answered({ kind: 'failure', id: 1_000_000_001, error: { code: -32009, message: 'no', data: { a: 1 } } });
    await expect(answer).rejects.toMatchObject({ code: -32009, message: 'no', data: { a: 1 } });
  });

  it('fail when no answer comes in time, and not a moment earlier', async () => {
    const { clock, requests } = queue();
    let outcome = 'waiting';
    const answer = requests.send('resourceRead', params).catch((error) => {
      outcome = error.message;
    });
    await clock.advance(HOST_REQUEST_TIMEOUT_MS - 1);
    expect(outcome).toBe('waiting');
    await clock.advance(1);
    await answer;
    expect(outcome).toContain('did not answer');
    expect(clock.pending).toBe(0);
  });

  it('fail when the client leaves, and leave no timer behind', async () => {
    const { clock, requests } = queue();
    const answers = [requests.send('resourceRead', params), requests.send('resourceList', params)];
    requests.abandon();
    for (const answer of answers) await expect(answer).rejects.toThrow('disconnected');
    expect(clock.pending).toBe(0);
  });
});

describe('on the wire', () => {
  /** The host's end of a client's connection. */
  function connectionOf(host: TestHost, clientId: string): Connection {
    const connection = componentsOf(host.host).connections.of(clientId);
    if (!connection) throw new Error(`${clientId} is not connected`);
    return connection;
  }

  it('[REL-023][AHP-008][AHP-010] host and client may use the same number at the same time', async () => {
    const host = await startHost();
    const client = await host.client('desk');
    const asked = connectionOf(host, 'desk').request('resourceRead', params);
    expect(await client.until(({ method }) => method === 'resourceRead')).toMatchObject({ id: 1_000_000_001, params });
    client.send({ id: 1_000_000_001, method: 'listSessions', params: { channel: ROOT } });
    const answer = await client.until(({ id, result }) => id === 1_000_000_001 && result !== undefined);
    expect(answer).toMatchObject({ result: { items: [] } });
    client.send({ id: 1_000_000_001, result: { data: 'text', encoding: 'utf-8' } });
    expect(await asked).toEqual({ data: 'text', encoding: 'utf-8' });
  });

  it('[REL-023] an answer is taken while requests of the client wait in line', async () => {
    const log = new SlowLog();
    const host = await startHost({ log });
    const client = await host.client('desk');
    const uri = await client.session();
    await client.request('disposeSession', { channel: uri });
    const letThrough = log.hold('append');
    client.send({ id: 7, method: 'createSession', params: { channel: 'ahp-session:/slow' } });
    const asked = connectionOf(host, 'desk').request('resourceRead', params);
    await settle();
    client.send({ id: 1_000_000_001, result: { data: '', encoding: 'utf-8' } });
    expect(await asked).toEqual({ data: '', encoding: 'utf-8' });
    expect(client.received.some(({ id }) => id === 7)).toBe(false);
    letThrough();
    await client.until(({ id }) => id === 7);
  });

  it('a result of the wrong shape is a failure', async () => {
    const host = await startHost();
    const client = await host.client('desk');
    const asked = connectionOf(host, 'desk').request('resourceRead', params);
    client.send({ id: 1_000_000_001, result: { data: 5 } });
    await expect(asked).rejects.toMatchObject({ code: -32602 });
  });

  it('a client that leaves has not answered', async () => {
    const host = await startHost();
    const client = await host.client('desk');
    const asked = connectionOf(host, 'desk').request('resourceRead', params);
    client.disconnect();
    await expect(asked).rejects.toThrow('disconnected');
  });

  it('[AHP-197] what only 0.3.0 has is never sent to a client of 0.2.0', async () => {
    const host = await startHost();
    const client = await host.client('desk', { protocolVersions: ['0.2.0'] });
    const connection = connectionOf(host, 'desk');
    await expect(connection.request('systemMessageTransform', params as never)).rejects.toThrow(
      'systemMessageTransform',
    );
    void connection.request('resourceRead', params).catch(() => {});
    const { method } = await client.until((message) => message.method?.startsWith('resource') ?? false);
    expect(method).toBe('resourceRead');
    expect(client.received.filter((message) => message.method === 'systemMessageTransform')).toEqual([]);
  });

  it('[V1-020] a client of sessions-v1 is never asked anything', async () => {
    const host = await startHost();
    const { raw } = await sessionsV1Client(host, 'old');
    for (const method of ['resourceRead', 'createResourceWatch', 'systemMessageTransform'] as const) {
      await expect(connectionOf(host, 'old').request(method, params as never)).rejects.toThrow(method);
    }
    expect(raw.received.filter(({ method }) => method)).toEqual([]);
  });
});
