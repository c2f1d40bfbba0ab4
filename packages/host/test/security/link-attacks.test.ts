/** What a stranger may try at the link between the hosts of a cluster, and a client at a host that stands by. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { WebSocket } from 'ws';
import { LINK_MESSAGE_MAX_BYTES, LINKS_MAX, RELAY_TIMEOUT_MS } from '../../src/cluster/limits.js';
import { askLink, openRelay } from '../../src/cluster/link.js';
import { relayedClient } from '../../src/cluster/relayed-client.js';
import { UNAUTHENTICATED_MAX } from '../../src/server/limits.js';
import { bearer } from '../support/device-fixture.js';
import { edgeBefore, LINK_SECRET, linkTo } from '../support/edge-fixture.js';
import { ask, rawClient, startEcho, statusOf, TOKEN } from '../wire/transports/support.js';

const CLIENT = { address: '203.0.113.9', scheme: 'http', host: ['b'], isProxied: false, relayedPort: 1 } as const;
const POLICY = { token: TOKEN, isGenerated: true };
const portOf = (link: string) => Number(link.split(':')[1]);

/** Everything that a socket receives until it is closed, in whichever way. */
function received(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.on('close', () => resolve(text));
  });
}

/** Everything that passes between two hosts, by direction. */
async function spyBefore(link: string) {
  const said: { asking: Buffer[]; asked: Buffer[] } = { asking: [], asked: [] };
  const server = createServer((near) => {
    const far = connect(portOf(link), '127.0.0.1');
    near.on('data', (chunk) => said.asking.push(chunk)).on('error', () => {});
    far.on('data', (chunk) => said.asked.push(chunk)).on('error', () => {});
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  return { link: `127.0.0.1:${port}`, said };
}

/** Strangers that are connected and say nothing. */
async function silent(port: number, count: number): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => rawClient(port).resume());
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  return sockets;
}

const firstLine = (chunks: readonly Buffer[]) => Buffer.concat(chunks).toString('latin1').split('\n')[0] ?? '';

describe('a stranger at the link', () => {
  it('[CLU-035] keeps no host out by connections that say nothing, however many', async () => {
    const server = await startEcho();
    const link = await linkTo(server);
    const strangers = await silent(portOf(link), LINKS_MAX + 44);
    // Well before the strangers' own time is over. A host has a second for its answer, which a busy machine may exceed once.
    const answer = () => askLink(link, LINK_SECRET, 'engine');
    await expect.poll(answer, { timeout: RELAY_TIMEOUT_MS - 1_000, interval: 1 }).toBe('yes');
    const stream = await openRelay(link, LINK_SECRET, CLIENT);
    onTestFinished(() => void stream?.destroy());
    expect(stream).toBeDefined();
    await expect
      .poll(() => strangers.filter(({ readyState }) => readyState === 'open').length)
      .toBeLessThanOrEqual(LINKS_MAX);
  });

  it('[CLU-035] gains nothing from what it recorded: a proof counts for the connection that it was made for', async () => {
    const server = await startEcho();
    const relayed = vi.fn();
    const spy = await spyBefore(await linkTo(server, { relayed }));
    (await openRelay(spy.link, LINK_SECRET, CLIENT))?.destroy();
    await expect.poll(() => relayed.mock.calls.length).toBe(1);
    const replay = rawClient(portOf(await linkTo(server, { relayed })));
    replay.write(`${firstLine(spy.said.asking)}\n`);
    expect(await received(replay)).toContain('"refused"');
    const whole = rawClient(portOf(spy.link));
    whole.write(Buffer.concat(spy.said.asking));
    expect(await received(whole)).not.toContain('"yes"');
    expect(relayed).toHaveBeenCalledTimes(1);
  });

  it('[CLU-035] who stands between two hosts changes neither question, nor client, nor answer', async () => {
    const server = await startEcho();
    const relayed = vi.fn();
    const link = await linkTo(server, { relayed });
    const changed = async (
      change: (line: string) => string,
      changeAnswer: (line: string) => string = (line) => line,
    ) => {
      const between = createServer((near) => {
        const far = connect(portOf(link), '127.0.0.1');
        for (const socket of [near, far]) socket.on('error', () => {});
        near.on('data', (chunk) => far.write(change(chunk.toString('latin1')), 'latin1'));
        far.on('data', (chunk) => near.write(changeAnswer(chunk.toString('latin1')), 'latin1'));
        near.on('close', () => far.destroy());
        far.on('close', () => near.destroy());
      });
      await new Promise<void>((resolve) => between.listen(0, '127.0.0.1', resolve));
      onTestFinished(() => void between.close());
      return `127.0.0.1:${(between.address() as { port: number }).port}`;
    };
    const other = await changed((line) => line.replace('203.0.113.9', '127.0.0.1'));
    expect(await openRelay(other, LINK_SECRET, CLIENT)).toBe(undefined);
    const asRelay = await changed((line) => line.replace('"engine"', '"relay"'));
    expect(await askLink(asRelay, LINK_SECRET, 'engine')).toBe('stranger');
    const inactive = await linkTo(server, { relayed, takesClients: () => false });
    expect(await openRelay(inactive, LINK_SECRET, CLIENT)).toBe(undefined);
    const lied = await changed(
      (line) => line,
      (line) => line.replace('"yes":true', '"yes":false'),
    );
    expect(await askLink(lied, LINK_SECRET, 'engine')).toBe('stranger');
    expect(relayed).not.toHaveBeenCalled();
  });

  it('[CLU-035] who only pretends to be a host learns nothing that it could use: no token crosses before the key does', async () => {
    const heard: Buffer[] = [];
    const pretender = createServer((socket) => {
      socket.on('error', () => {}).on('data', (chunk) => heard.push(chunk));
      socket.write(`${JSON.stringify({ nonce: 'A'.repeat(32) })}\n`);
      socket.write(`${JSON.stringify({ yes: true, proof: 'A'.repeat(43) })}\n`);
    });
    await new Promise<void>((resolve) => pretender.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void pretender.close());
    const { port: at } = pretender.address() as { port: number };
    const { port } = await edgeBefore({ link: `127.0.0.1:${at}`, policy: POLICY });
    const websocket = new WebSocket(`ws://localhost:${port}/`, { headers: bearer(TOKEN) });
    websocket.on('error', () => {});
    expect(await statusOf(websocket)).toBe(503);
    const all = Buffer.concat(heard).toString('latin1');
    expect(all).toContain('"question"');
    expect(all).not.toContain(TOKEN);
    expect(all).not.toContain(LINK_SECRET);
  });

  it.each([
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x00, 0x0a])],
    ['no object', Buffer.from('null\n')],
    ['deep JSON', Buffer.from(`${'['.repeat(4_000)}\n`)],
    ['members of other kinds', Buffer.from('{"nonce":1,"question":{},"proof":[]}\n')],
    ['a line without an end', Buffer.from('x'.repeat(LINK_MESSAGE_MAX_BYTES + 1))],
    ['a megabyte at once', Buffer.alloc(2 ** 20, '{')],
    ['a hello of TLS', Buffer.from('160301', 'hex')],
    ['half a line, and then its end', Buffer.from('{"nonce":"x"')],
  ])('[CLU-035] is sent away after %s, and the next host is answered', async (_what, bytes) => {
    const server = await startEcho();
    const link = await linkTo(server);
    const socket = rawClient(portOf(link));
    const said = received(socket);
    socket.end(bytes);
    expect(await said).not.toContain('"yes"');
    expect(await askLink(link, LINK_SECRET, 'engine')).toBe('yes');
  });

  it('[CLU-035] has no way round the proof by beginning with the encryption', async () => {
    const server = await startEcho();
    const relayed = vi.fn();
    const link = await linkTo(server, { relayed });
    for (const ciphers of ['ECDHE-PSK-CHACHA20-POLY1305', undefined]) {
      const psk = Buffer.alloc(32);
      const stream = connectTls({
        ...{ host: '127.0.0.1', port: portOf(link), rejectUnauthorized: false, maxVersion: 'TLSv1.2' },
        ...(ciphers !== undefined && { ciphers, pskCallback: () => ({ psk, identity: 'relay' }) }),
      });
      await once(stream, 'error');
    }
    expect(relayed).not.toHaveBeenCalled();
  });

  it.each([
    ['no address', { ...CLIENT, address: 'somewhere' }],
    ['no port', { ...CLIENT, relayedPort: 0 }],
    ['half a port', { ...CLIENT, relayedPort: 1.5 }],
    ['two names', { ...CLIENT, host: ['a', 'b'] }],
    ['no name', { ...CLIENT, host: [] }],
    ['a name that ends a line', { ...CLIENT, host: ['a\r\nX-Forwarded-For: 127.0.0.1'] }],
    ['another scheme', { ...CLIENT, scheme: 'file' }],
    ['a list', []],
    ['nothing', null],
  ])('[CLU-035] even with the secret, a client with %s is none', (_what, client) => {
    expect(relayedClient(JSON.stringify(client))).toBe(undefined);
  });

  it('[CLU-035] what a host says of its client beyond where it comes from counts for nothing', () => {
    const more = { ...CLIENT, isTunnelled: true, access: { role: 'owner' }, credential: 'connection', __proto__: null };
    expect(relayedClient(JSON.stringify(more))).toEqual(CLIENT);
  });
});

/** An active host that notes what it is asked, and one before it that stands by. */
async function asked() {
  const seen: string[] = [];
  const server = await startEcho({
    page: {
      answer: (incoming: { method?: string; url?: string }, response: { end(text: string): void }) => {
        seen.push(`${incoming.method} ${incoming.url}`);
        response.end('page');
      },
    } as never,
  });
  const { port, edge } = await edgeBefore({ link: await linkTo(server), policy: POLICY });
  return { server, port, edge, seen };
}

async function sent(port: number, text: string): Promise<string> {
  const socket = rawClient(port);
  const answer = received(socket);
  socket.write(text, 'latin1');
  setTimeout(() => socket.end(), 700);
  return answer;
}

describe('a client at a host that stands by', () => {
  const inner = 'GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n';
  it.each([
    [
      'a body in chunks behind GET',
      'GET /first',
      'Transfer-Encoding: chunked',
      `${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`,
    ],
    ['a body with a length behind GET', 'GET /first', `Content-Length: ${inner.length}`, inner],
    ['a length and chunks', 'POST /first', `Content-Length: 4\r\nTransfer-Encoding: chunked`, `0\r\n\r\n${inner}`],
    ['two lengths', 'POST /first', `Content-Length: 0\r\nContent-Length: ${inner.length}`, inner],
    [
      'a length that Connection would take away',
      'GET /first',
      `Connection: content-length\r\nContent-Length: ${inner.length}`,
      inner,
    ],
    ['a request right behind the first', 'GET /first', 'X-A: b', inner],
    ['chunks in another spelling', 'GET /first', 'Transfer-Encoding: xchunked', inner],
  ])('[CLU-035] brings no second request to the active host by %s', async (_what, line, headers, body) => {
    const { port, seen } = await asked();
    await sent(port, `${line} HTTP/1.1\r\nHost: localhost:${port}\r\n${headers}\r\n\r\n${body}`);
    expect(seen.filter((each) => each.includes('smuggled')).length).toBeLessThanOrEqual(headers === 'X-A: b' ? 1 : 0);
    expect(seen.length).toBeLessThanOrEqual(headers === 'X-A: b' ? 2 : 1);
  });

  it('[CLU-035] has its headers passed on byte by byte', async () => {
    const seen: unknown[] = [];
    const server = await startEcho();
    const relayed = (stream: Socket) => stream.once('data', (chunk: Buffer) => seen.push(chunk.toString('latin1')));
    const { port } = await edgeBefore({ link: await linkTo(server, { relayed: relayed as never }), policy: POLICY });
    const upgrade = [
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
    ];
    const headers = [`Host: localhost:${port}`, ...upgrade, 'Cookie: a=\xe9\xff'];
    const socket = rawClient(port);
    socket.write(`GET /?x=%e9 HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`, 'latin1');
    await expect.poll(() => seen.length).toBe(1);
    const lines = String(seen[0]).split('\r\n');
    expect(lines).toContain('Cookie: a=\xe9\xff');
    expect(lines).toHaveLength(headers.length + 3);
  });

  it('[CLU-036] cannot fill it with connections that wait: the oldest goes, and a client that may connect gets in', async () => {
    const { port, edge } = await asked();
    const half = `GET / HTTP/1.1\r\nHost: localhost:${port}\r\n`;
    const sockets = await silent(port, UNAUTHENTICATED_MAX + 68);
    for (const socket of sockets) if (socket.writable) socket.write(half);
    const websocket = new WebSocket(`ws://localhost:${port}/`, { headers: bearer(TOKEN) });
    onTestFinished(() => websocket.terminate());
    await once(websocket, 'open');
    expect(await ask(websocket, 'in')).toBe('in');
    expect(edge.clients).toBe(1);
  });

  it('[CLU-036] that takes no answer of a page holds no way to the active host for long', async () => {
    const server = await startEcho({
      page: {
        answer: (_request: unknown, response: { end(text: Buffer): void }) => response.end(Buffer.alloc(2 ** 20)),
      } as never,
    });
    const { port } = await edgeBefore({ link: await linkTo(server), policy: POLICY });
    const greedy = await silent(port, UNAUTHENTICATED_MAX);
    for (const socket of greedy) socket.pause().write(`GET / HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`);
    const websocket = new WebSocket(`ws://localhost:${port}/`, { headers: bearer(TOKEN) });
    onTestFinished(() => websocket.terminate());
    await once(websocket, 'open');
    expect(await ask(websocket, 'in')).toBe('in');
  });

  it('[CLU-035] is sent away by the active host after frames beyond its limit, as at its own port', async () => {
    const { port } = await asked();
    const websocket = new WebSocket(`ws://localhost:${port}/`, { headers: bearer(TOKEN) });
    websocket.on('error', () => {});
    onTestFinished(() => websocket.terminate());
    await once(websocket, 'open');
    const closed = once(websocket, 'close');
    websocket.send(Buffer.alloc(80 * 2 ** 20, 'x').toString('latin1'));
    const [code] = await closed;
    expect([1006, 1009, 1008]).toContain(code);
  });

  it.each([
    ['CONNECT', 'CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: 127.0.0.1:22\r\n\r\n'],
    ['an absolute address', 'GET http://127.0.0.1:22/ HTTP/1.1\r\nHost: 127.0.0.1:22\r\n\r\n'],
    ['another protocol', 'GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n'],
    ['no name', 'GET / HTTP/1.1\r\n\r\n'],
    ['a header on two lines', 'GET / HTTP/1.1\r\nHost: localhost\r\nX-Folded: a\r\n b: c\r\n\r\n'],
    ['two names', 'GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n'],
  ])('[CLU-035] gets nowhere with %s', async (_what, text) => {
    const { port, seen } = await asked();
    const answer = await sent(port, text);
    expect(answer).not.toMatch(/^HTTP\/1\.1 (1|2)/);
    expect(seen).toEqual([]);
  });
});
