import { randomBytes } from 'node:crypto';
import { get } from 'node:http';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { CONNECTIONS_MAX, GATEWAY_DEFAULT_PORT } from '@atrium/protocol/provider';
import { describe, expect, it, onTestFinished } from 'vitest';
import WebSocket from 'ws';
import { ARRIVALS_PER_SECOND_MAX, startGatewayServer } from '../../../src/gateway/gateway-server.js';
import { FakeClock } from '../../support/fake-clock.js';
import { openGateway, overSocket, pair } from '../../support/gateway-connections.js';
import { openFixture } from '../../support/session-fixture.js';

function statusOf(port: number, path: string): Promise<{ status: number | undefined; body: string }> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text) => {
        body += text;
      });
      response.on('end', () => resolve({ status: response.statusCode, body }));
    }).on('error', reject);
  });
}

/** The HTTP status with which an upgrade is refused. */
function refusal(port: number, options: object = {}): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}`, options);
    socket.on('unexpected-response', (request, response) => {
      request.destroy();
      resolve(response.statusCode);
    });
    socket.on('open', () => reject(new Error('was let in')));
    socket.on('error', () => {});
  });
}

/** A connection that has not said yet what it wants; then it does, and gives the answer. */
function arrival(port: number): Promise<() => Promise<string>> {
  const headers = ['Host: localhost', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
  const request = ['GET / HTTP/1.1', ...headers, `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`];
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port }, () => resolve(upgrade));
    onTestFinished(() => void socket.destroy());
    const answer = new Promise<string>((answered) => {
      socket.on('data', (data) => answered(data.toString('latin1'))).on('close', () => answered('closed'));
      socket.on('error', reject);
    });
    const upgrade = () => {
      socket.write(`${request.join('\r\n')}\r\n\r\n`);
      return answer;
    };
  });
}

describe('the port for providers', () => {
  it('[GW-002] is any that is asked for; 9400 when none is', async () => {
    const { host } = await openFixture();
    const gateway = await openGateway(host);
    expect(gateway.port).toBeGreaterThan(0);
    await overSocket(gateway.port);
    expect(GATEWAY_DEFAULT_PORT).toBe(9_400);
  });

  it('[GW-003] is open on this machine only', async () => {
    const { host } = await openFixture();
    const gateway = await openGateway(host);
    expect([...gateway.addresses].sort()).toEqual(expect.arrayContaining(['127.0.0.1']));
    expect(gateway.addresses.every((address) => address === '127.0.0.1' || address === '::1')).toBe(true);
    const others = Object.values(networkInterfaces()).flatMap((list = []) =>
      list.filter(({ internal, family }) => !internal && family === 'IPv4'),
    );
    for (const { address } of others) {
      const outcome = await new Promise((resolve) => {
        const socket = connect({ host: address, port: gateway.port }, () => resolve('connected'));
        socket.on('error', ({ message }) => resolve(message));
      });
      expect(outcome).toContain('ECONNREFUSED');
    }
  });

  it('[GW-014] [GW-015] has fifty places, also for strangers; a place that becomes free can be taken', async () => {
    const { host } = await openFixture();
    const gateway = await openGateway(host);
    const providers = await Promise.all(Array.from({ length: CONNECTIONS_MAX }, () => overSocket(gateway.port)));
    expect(await refusal(gateway.port)).toBe(503);
    providers[0]?.send({ type: 'auth', mode: 'pair' });
    await providers[0]?.next('auth.pairing');
    providers[1]?.drop();
    await expect
      .poll(() =>
        overSocket(gateway.port).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
  });

  it('[GW-014] lets in fifty that come in one moment, as they do when the host has started anew', async () => {
    const { host } = await openFixture();
    const gateway = await openGateway(host);
    const arrivals = await Promise.all(Array.from({ length: CONNECTIONS_MAX }, () => arrival(gateway.port)));
    // A later request is answered when all of them have connected; only then the first says what it wants.
    expect(await statusOf(gateway.port, '/')).toMatchObject({ status: 426 });
    const answers = await Promise.all(arrivals.map((upgrade) => upgrade()));
    expect(answers.filter((answer) => answer.startsWith('HTTP/1.1 101'))).toHaveLength(CONNECTIONS_MAX);
  });

  it('asks those who come too fast to wait a second', async () => {
    const clock = new FakeClock();
    const onConnection = () => {};
    const gateway = await startGatewayServer({ port: 0, clock, onConnection });
    onTestFinished(() => gateway.close());
    for (let count = 0; count < ARRIVALS_PER_SECOND_MAX; count++) {
      const provider = await overSocket(gateway.port);
      provider.drop();
      await provider.untilClosed();
    }
    expect(await refusal(gateway.port)).toBe(429);
    await clock.advance(1_000);
    await overSocket(gateway.port);
  });

  it('[GW-016] says nothing in plain HTTP', async () => {
    const { host } = await openFixture();
    const gateway = await openGateway(host);
    expect(await statusOf(gateway.port, '/secret')).toEqual({ status: 404, body: '' });
    expect(await statusOf(gateway.port, '/')).toEqual({ status: 426, body: '' });
  });

  it('is reached by the name of this machine only', async () => {
    const { host } = await openFixture();
    const gateway = await openGateway(host);
    expect(await refusal(gateway.port, { headers: { Host: 'evil.example' } })).toBe(403);
  });

  it('[GW-012] closes its sockets with "going away"', async () => {
    const fixture = await openFixture();
    const gateway = await openGateway(fixture.host);
    const stranger = await overSocket(gateway.port);
    const { provider } = await pair(fixture, await overSocket(gateway.port));
    await gateway.close();
    expect(await stranger.untilClosed()).toMatchObject({ code: 1001 });
    expect(await provider.untilClosed()).toMatchObject({ code: 1001 });
    await expect(overSocket(gateway.port)).rejects.toThrow();
  });
});
