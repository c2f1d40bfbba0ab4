/** Peers that send control frames and fragments without end, and never read. Real sockets, bounded in bytes and time. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { WireFrame } from '@atrium/core/wire/frames.js';
import { CloseCode, type Transport } from '@atrium/core/wire/transport.js';
import { CONNECTIONS_MAX } from '@atrium/protocol/provider';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startGatewayServer } from '../../src/gateway/gateway-server.js';
import {
  CONTROL_FRAME_BYTES,
  CONTROL_FRAMES_MAX,
  FRAGMENTS_MAX,
  UNADMITTED_PEER_MAX_BYTES,
  UNADMITTED_PEERS_MAX_BYTES,
} from '../../src/server/peer-budget.js';
import { openGateway, overSocket, pair } from '../support/gateway-connections.js';
import { openFixture } from '../support/session-fixture.js';
import { ask, openClient, rawClient, startEcho, TOKEN } from '../wire/transports/support.js';

const MIB = 2 ** 20;
const [CONTINUATION, TEXT, PING, PONG] = [0x0, 0x1, 0x9, 0xa];
/** What a flooder may send at most: on a host without a limit, several times what it takes to see memory grow. */
const FLOOD_MAX_BYTES = 48 * MIB;
/** What may wait in the host for a peer that only sends control frames. */
const UNREAD_MAX_BYTES = 64 * 2 ** 10;

/** A frame as a client sends it: masked, by a mask of zeros. */
function frame(opcode: number, payload: Buffer, fin = true): Buffer {
  return Buffer.concat([Buffer.from([(fin ? 0x80 : 0) | opcode, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
}

/** The beginning of a text frame of 4 MiB. */
function unfinished(bytes: number): Buffer {
  const head = Buffer.from([0x80 | TEXT, 0x80 | 127, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  head.writeUInt32BE(4 * MIB, 6);
  return Buffer.concat([head, Buffer.alloc(bytes, 'x')]);
}

function times(count: number, one: Buffer): Buffer {
  return Buffer.concat(Array.from({ length: count }, () => one));
}

/** Upgrades a bare socket, which then reads nothing unless told to. */
async function upgraded(port: number, path = '/'): Promise<Socket> {
  const socket = rawClient(port);
  const headers = ['Host: localhost', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
  socket.write(
    [`GET ${path} HTTP/1.1`, ...headers, 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==', '', ''].join('\r\n'),
  );
  const [head] = await once(socket, 'data');
  expect(String(head)).toMatch(/^HTTP\/1\.1 101 /);
  socket.pause();
  return socket;
}

/** Sends the same bytes again and again, as fast as they are taken, until the host hangs up or it is enough. */
async function flood(socket: Socket, bytes: Buffer): Promise<number> {
  const sent = () => socket.bytesWritten - socket.writableLength;
  while (!socket.destroyed && sent() < FLOOD_MAX_BYTES) {
    if (socket.write(bytes)) await new Promise((resolve) => setImmediate(resolve));
    else await Promise.race([once(socket, 'drain').catch(() => {}), new Promise((resolve) => setTimeout(resolve, 50))]);
  }
  return sent();
}

/** The code in the close frame that a socket gets to read at last; frames before it are skipped. */
function closeCodeIn(bytes: Buffer): number | undefined {
  for (let at = 0; at + 4 <= bytes.length; at += 2 + (bytes[at + 1] ?? 0)) {
    if (bytes[at] === 0x88) return bytes.readUInt16BE(at + 2);
  }
  return undefined;
}

async function readToEnd(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk)).resume();
  if (!socket.destroyed) await once(socket, 'close');
  return Buffer.concat(chunks);
}

/** The most that waited in the host for any of the peers, looked at until the test is over. */
function watching(transports: readonly Transport[]) {
  const seen = { unread: 0, rssGrowth: 0 };
  const before = process.memoryUsage.rss();
  const timer = setInterval(() => {
    seen.unread = Math.max(seen.unread, ...transports.map(({ bufferedBytes }) => bufferedBytes));
    seen.rssGrowth = Math.max(seen.rssGrowth, process.memoryUsage.rss() - before);
  }, 5);
  onTestFinished(() => clearInterval(timer));
  return seen;
}

/** The client port, with what it holds of its peers. */
async function clientPort() {
  const transports: Transport[] = [];
  const { port } = await startEcho({
    onConnection: (transport) => {
      transports.push(transport);
      transport.start({ message: (text) => transport.send([new WireFrame(text)]), drain: () => {}, closed: () => {} });
    },
  });
  return { port, seen: watching(transports), connect: () => upgraded(port, `/?token=${TOKEN}`) };
}

/** The gateway of a real host. */
async function gatewayPort() {
  const fixture = await openFixture();
  const transports: Transport[] = [];
  const gateway = await startGatewayServer({
    port: 0,
    onConnection: (transport) => {
      transports.push(transport);
      fixture.host.host.connectProvider(transport, 'network');
    },
  });
  onTestFinished(() => gateway.close());
  return { fixture, port: gateway.port, seen: watching(transports), connect: () => upgraded(gateway.port) };
}

const PAYLOAD = Buffer.alloc(125, 'x');
const PINGS = times(500, frame(PING, PAYLOAD));
const SMALL_PINGS = times(10_000, frame(PING, Buffer.alloc(0)));
const PONGS = times(500, frame(PONG, PAYLOAD));

describe('a flood of control frames on the client port', () => {
  it.each([
    ['pings', PINGS],
    ['empty pings', SMALL_PINGS],
    ['pongs', PONGS],
  ])('[REL-057] of %s that are never read ends the connection, and little waits meanwhile', async (_, bytes) => {
    const { port, seen, connect } = await clientPort();
    const other = await openClient(port);
    const sent = await flood(await connect(), bytes);
    expect(sent).toBeLessThan(FLOOD_MAX_BYTES);
    expect(seen.unread).toBeLessThan(UNREAD_MAX_BYTES);
    expect(await ask(other, 'still served')).toBe('still served');
  });

  it('[REL-057] says why in the close frame, to a peer that reads', async () => {
    const { connect } = await clientPort();
    const socket = await connect();
    socket.write(times(CONTROL_FRAMES_MAX + 1, frame(PING, Buffer.from('now'))));
    expect(closeCodeIn(await readToEnd(socket))).toBe(CloseCode.PolicyViolation);
  });

  it('[REL-057] allows as many as there is room for, and answers the latest', async () => {
    const { port } = await clientPort();
    const websocket = await openClient(port);
    const pongs: string[] = [];
    websocket.on('pong', (data) => pongs.push(String(data)));
    for (let count = 1; count <= CONTROL_FRAMES_MAX; count += 1) websocket.ping(String(count));
    await expect.poll(() => pongs.at(-1)).toBe(String(CONTROL_FRAMES_MAX));
    expect(await ask(websocket, 'still here')).toBe('still here');
  });

  it('[REL-057] does not grow the host, from many sockets at once', { timeout: 60_000 }, async () => {
    const { seen, connect } = await clientPort();
    const sockets = await Promise.all(Array.from({ length: 24 }, connect));
    const sent = await Promise.all(sockets.map((socket) => flood(socket, PINGS)));
    expect(Math.max(...sent)).toBeLessThan(FLOOD_MAX_BYTES);
    expect(seen.unread).toBeLessThan(UNREAD_MAX_BYTES);
    expect(seen.rssGrowth).toBeLessThan(200 * MIB);
  });

  it('[REL-057] ends a message of ever more empty fragments', async () => {
    const { connect } = await clientPort();
    const socket = await connect();
    socket.write(frame(TEXT, Buffer.alloc(0), false));
    socket.write(times(FRAGMENTS_MAX, frame(CONTINUATION, Buffer.alloc(0), false)));
    expect(closeCodeIn(await readToEnd(socket))).toBe(CloseCode.PolicyViolation);
  });
});

describe('plain requests', () => {
  const REQUEST = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';

  it.each(['client port', 'gateway'])('[REL-057] that pile up on one connection of the %s end it', async (place) => {
    const { port } = place === 'gateway' ? await gatewayPort() : await clientPort();
    const socket = rawClient(port);
    socket.write(REQUEST.repeat(5_000));
    const answers = String(await readToEnd(socket)).match(/HTTP\/1\.1 \d+/g) ?? [];
    expect(answers.length).toBeLessThanOrEqual(1);
  });

  it('are answered one after the other', async () => {
    const { port } = await clientPort();
    const socket = rawClient(port);
    for (let count = 0; count < 3; count += 1) {
      socket.write(REQUEST);
      expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /);
    }
  });
});

describe('a flood on the gateway', () => {
  it('[REL-057] of pings before authentication ends the connection early', async () => {
    const { seen, connect } = await gatewayPort();
    const socket = await connect();
    const sent = await flood(socket, SMALL_PINGS);
    expect(sent).toBeLessThan(FLOOD_MAX_BYTES);
    expect(seen.unread).toBeLessThan(UNREAD_MAX_BYTES);
  });

  it('[REL-057] of a stranger is cut off with a code where its small budget ends, whatever it sends', async () => {
    const { connect } = await gatewayPort();
    const [pinging, talking] = [await connect(), await connect()];
    pinging.write(times(UNADMITTED_PEER_MAX_BYTES / CONTROL_FRAME_BYTES, frame(PING, Buffer.alloc(0))));
    expect(closeCodeIn(await readToEnd(pinging))).toBe(CloseCode.PolicyViolation);
    talking.write(unfinished(UNADMITTED_PEER_MAX_BYTES));
    expect(closeCodeIn(await readToEnd(talking))).toBe(CloseCode.PolicyViolation);
  });

  it('[REL-057] of pings after pairing ends the connection, and little waits meanwhile', async () => {
    const { fixture, port, seen } = await gatewayPort();
    const { token } = await pair(fixture, await overSocket(port));
    const socket = await upgraded(port);
    const auth = Buffer.from(JSON.stringify({ type: 'auth', token }));
    socket.write(frame(TEXT, auth));
    const [answer] = await once(socket.resume(), 'data');
    expect(String(answer)).toContain('"sessions"');
    socket.pause();
    expect(await flood(socket, PINGS)).toBeLessThan(FLOOD_MAX_BYTES);
    expect(seen.unread).toBeLessThan(UNREAD_MAX_BYTES);
  });

  it('[REL-057] of all strangers together has one budget: who used most of it has to go', {
    timeout: 60_000,
  }, async () => {
    const { port, connect } = await gatewayPort();
    const greedyBytes = UNADMITTED_PEER_MAX_BYTES - 64 * 2 ** 10;
    const greedy = await Promise.all(
      Array.from({ length: Math.ceil(UNADMITTED_PEERS_MAX_BYTES / greedyBytes) }, async () => {
        const socket = await connect();
        socket.write(unfinished(greedyBytes));
        return socket.resume();
      }),
    );
    await expect.poll(() => greedy.filter(({ destroyed }) => destroyed).length).toBeGreaterThan(0);
    const honest = await overSocket(port);
    honest.send({ type: 'auth', mode: 'pair', name: 'browser' });
    await honest.next('auth.pairing');
    expect(greedy.filter(({ destroyed }) => !destroyed).length).toBeGreaterThan(0);
  });

  it('[REL-057] from every place at once does not grow the host, and places become free', {
    timeout: 60_000,
  }, async () => {
    const { seen, connect, port } = await gatewayPort();
    const sockets = await Promise.all(Array.from({ length: CONNECTIONS_MAX }, connect));
    const sent = await Promise.all(sockets.map((socket) => flood(socket, SMALL_PINGS)));
    expect(Math.max(...sent)).toBeLessThan(FLOOD_MAX_BYTES);
    expect(seen.unread).toBeLessThan(UNREAD_MAX_BYTES);
    expect(seen.rssGrowth).toBeLessThan(200 * MIB);
    await overSocket(port);
  });

  it('leaves a provider that was let in the size of its messages', async () => {
    const { fixture } = await gatewayPort();
    const gateway = await openGateway(fixture.host);
    const { provider } = await pair(fixture, await overSocket(gateway.port));
    await provider.hello({ name: 'browser' });
    provider.send({ type: 'push', stream: 's', level: 'keep', event: 'x'.repeat(UNADMITTED_PEER_MAX_BYTES + 1) });
    provider.send({ type: 'stream.query', queryId: 'q', streams: ['s'], last: 1 });
    expect(await provider.next('stream.history')).toBeDefined();
  });
});
