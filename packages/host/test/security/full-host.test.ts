/** Two thousand connections at once, where all places are taken: each of them is answered. */
import { connect } from 'node:net';
import { CONNECTIONS_MAX } from '@atrium/protocol/provider';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startGatewayServer } from '../../src/gateway/gateway-server.js';
import { openClient, startEcho, TOKEN } from '../wire/transports/support.js';

const ATTEMPTS = 2_000;
const PLACES = 8;
const UNAVAILABLE = 'HTTP/1.1 503 Service Unavailable';

/** Connects, asks to be let in when `asked` says so, and gives the status line of the answer, or how it failed. */
function attempt(port: number, request: string, asked: Promise<unknown> = Promise.resolve()) {
  const socket = connect(port, '127.0.0.1');
  const connected = new Promise((resolve) => socket.once('connect', resolve).once('error', resolve));
  const answer = new Promise<string>((resolve) => {
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('error', ({ message }) => resolve(message));
    socket.on('close', () => resolve(text.split('\r\n')[0] || 'closed without an answer'));
  });
  void Promise.all([connected, asked]).then(() => socket.writable && socket.write(request));
  return { connected, answer };
}

function upgrade(path: string): string {
  const headers = ['Host: localhost', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
  return [`GET ${path} HTTP/1.1`, ...headers, 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==', '', ''].join('\r\n');
}

/** How often each answer came to attempts that are all there before the first of them asks. */
async function answers(port: number, path = '/'): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  let ask = (_: unknown) => {};
  const asked = new Promise((resolve) => {
    ask = resolve;
  });
  const attempts = Array.from({ length: ATTEMPTS }, () => attempt(port, upgrade(path), asked));
  await Promise.all(attempts.map(({ connected }) => connected));
  ask(undefined);
  for (const { answer } of attempts) {
    const status = await answer;
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}

describe('when all places are taken', () => {
  it('[REL-061] every one of 2,000 attempts at the client port is answered with 503', {
    timeout: 120_000,
  }, async () => {
    const { port } = await startEcho({ limits: { clients: PLACES } });
    await Promise.all(Array.from({ length: PLACES }, () => openClient(port)));
    expect(await answers(port, `/?token=${TOKEN}`)).toEqual({ [UNAVAILABLE]: ATTEMPTS });
  });

  it('[REL-061] every one of 2,000 attempts at the gateway is answered with 503', { timeout: 120_000 }, async () => {
    const gateway = await startGatewayServer({ port: 0, onConnection: () => {} });
    onTestFinished(() => gateway.close());
    await Promise.all(Array.from({ length: CONNECTIONS_MAX }, () => openClient(gateway.port)));
    expect(await answers(gateway.port)).toEqual({ [UNAVAILABLE]: ATTEMPTS });
  });

  it('[REL-061] a peer that goes on sending behind its request is not reset', async () => {
    const { port } = await startEcho({ limits: { clients: 0 } });
    const { answer } = attempt(port, `${upgrade(`/?token=${TOKEN}`)}${'x'.repeat(8 * 2 ** 20)}`);
    expect(await answer).toBe(UNAVAILABLE);
  });
});
