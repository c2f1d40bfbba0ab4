/** Clients at a host that stands by: served by the active host, judged there, and bounded. */
import { once } from 'node:events';
import { chmod, readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { connect as connectTcp, createServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { WireFrame } from '@atrium/core/wire/frames.js';
import { CloseCode } from '@atrium/core/wire/transport.js';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { WebSocket } from 'ws';
import { hasOpenssl, makeCertificate } from '../../../../test/support/certificate.js';
import { askLink, openRelay } from '../../src/cluster/link.js';
import { FrameEnds } from '../../src/cluster/relayed-socket.js';
import { bearer, startDeviceHost, TOKEN } from '../support/device-fixture.js';
import { cuttable, edgeBefore, LINK_SECRET, linkTo } from '../support/edge-fixture.js';
import { tempFolder } from '../support/temp-folder.js';
import { ask, closeOf, rawClient, startEcho, startManual, statusOf, TestClock } from '../wire/transports/support.js';

const SERVICE_RESTART = 1012;
const ECHO_TOKEN = 'a-token-for-tests';
const CLIENT = {
  address: '203.0.113.9',
  scheme: 'http',
  host: ['b.example'],
  isProxied: false,
  relayedPort: 1,
} as const;

function dial(port: number, token = TOKEN, headers: Readonly<Record<string, string>> = {}): WebSocket {
  const websocket = new WebSocket(`ws://localhost:${port}/`, { headers: { ...bearer(token), ...headers } });
  websocket.on('error', () => {});
  onTestFinished(() => websocket.terminate());
  return websocket;
}

async function opened(port: number, token = TOKEN): Promise<WebSocket> {
  const websocket = dial(port, token);
  await once(websocket, 'open');
  return websocket;
}

const upgradeStatus = (port: number, token?: string, headers?: Readonly<Record<string, string>>) =>
  statusOf(dial(port, token, headers));

async function get(port: number, path: string, headers: Readonly<Record<string, string>> = {}) {
  const asked = request({ host: '127.0.0.1', port, path, agent: false, headers });
  asked.end();
  const [response] = await once(asked, 'response');
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  return { status: response.statusCode, text: text.trim(), headers: response.headers };
}

async function echoBehindEdge() {
  const server = await startEcho();
  const way = await cuttable(await linkTo(server));
  const edge = await edgeBefore({ link: way.link, policy: { token: ECHO_TOKEN, isGenerated: true } });
  await expect.poll(() => edge.edge.health.isReady).toBe(true);
  return { server, way, ...edge };
}

describe('a client at a host that stands by', () => {
  it('[CLU-034] is served by the active host: its messages, its page, and its refusals', async () => {
    const { port, edge } = await echoBehindEdge();
    const websocket = await opened(port, ECHO_TOKEN);
    expect(edge.clients).toBe(1);
    expect(await ask(websocket, 'hello')).toBe('hello');
    const long = 'long '.repeat(400_000);
    expect(await ask(websocket, long)).toBe(long);
    expect(await upgradeStatus(port, 'a-wrong-token')).toBe(401);
    const page = await get(port, '/');
    expect([page.status, page.headers['x-content-type-options']]).toEqual([200, 'nosniff']);
    expect((await get(port, '/nothing')).status).toBe(404);
    websocket.close(1000, 'done');
    expect(await closeOf(websocket)).toMatchObject({ code: 1000 });
    await expect.poll(() => edge.clients).toBe(0);
  });

  it('[CLU-034] is judged there as it came here: address, name and page of the port that it used', async () => {
    const logged: object[] = [];
    const logger = { log: (_level: string, _message: string, fields: object = {}) => void logged.push(fields) };
    const fixture = await startDeviceHost({ logger });
    const link = await linkTo(fixture.server);
    const { port } = await edgeBefore({ link });
    // The page of this port, not of the active host's.
    expect(await upgradeStatus(port, TOKEN, { origin: `http://localhost:${port}` })).toBe(101);
    expect(await upgradeStatus(port, TOKEN, { origin: `http://localhost:${fixture.port}` })).toBe(403);
    expect(await upgradeStatus(port, TOKEN, { host: `evil.example:${port}` })).toBe(403);
    expect(await upgradeStatus(port, TOKEN, { host: `localhost:${fixture.port}` })).toBe(403);
    expect((await get(port, '/', { host: 'evil.example' })).status).toBe(403);
    const { token } = await fixture.admit({ name: 'Phone' });
    await opened(port, token);
    const { items } = await fixture.owner.request<{ items: { lastUsedFrom?: string }[] }>('atrium/devices');
    expect(JSON.stringify(items)).toContain('127.0.0.1');
  });

  it('[CLU-035] has no header believed: neither where it comes from, nor that a host passed it on', async () => {
    const seen: string[] = [];
    const server = await startEcho({ onConnection: ({ name }) => void seen.push(name) });
    const link = await linkTo(server);
    const policy = { token: ECHO_TOKEN, isGenerated: true };
    const { port } = await edgeBefore({ link, policy });
    const forged = {
      'x-forwarded-for': '198.51.100.7',
      'x-forwarded-host': 'evil.example',
      forwarded: 'for=198.51.100.7',
    };
    expect(await upgradeStatus(port, ECHO_TOKEN, forged)).toBe(101);
    expect(seen[0]).toMatch(/^websocket (127\.0\.0\.1|::1) by /);
    // Behind a proxy that this host trusts, the proxy's word counts, and this host passes that on.
    const proxied = await edgeBefore({ link, policy, behindProxy: ['127.0.0.1', '::1'] });
    expect(await upgradeStatus(proxied.port, ECHO_TOKEN, { 'x-forwarded-for': '198.51.100.7' })).toBe(101);
    expect(seen[1]).toMatch(/^websocket 198\.51\.100\.7 by /);
    expect(await upgradeStatus(proxied.port, ECHO_TOKEN, forged)).toBe(400);
  });

  it('[CLU-035] is cut off when its device is removed at the active host, and stays out', async () => {
    const fixture = await startDeviceHost();
    const { port } = await edgeBefore({ link: await linkTo(fixture.server) });
    const { id, token } = await fixture.admit();
    const websocket = await opened(port, token);
    const closed = closeOf(websocket);
    expect(await fixture.owner.request('atrium/removeDevice', { id })).toEqual({ closed: 1 });
    expect((await closed).code).toBe(CloseCode.AccessEnded);
    expect(await upgradeStatus(port, token)).toBe(401);
  });

  it('[CLU-035] waits like a client of the active host after wrong tokens, wherever they were tried', async () => {
    const server = await startEcho({ clock: new TestClock() });
    const link = await linkTo(server);
    const policy = { token: ECHO_TOKEN, isGenerated: true };
    const at = async () => (await edgeBefore({ link, policy, behindProxy: ['127.0.0.1', '::1'] })).port;
    const ports = [await at(), await at()];
    const from = { 'x-forwarded-for': '198.51.100.7' };
    for (let attempt = 0; attempt < 10; attempt++)
      expect(await upgradeStatus(ports[attempt % 2] ?? 0, 'wrong', from)).toBe(401);
    // The next ones wait, and those above the places that there are for waiting hear so.
    const waiting = Array.from({ length: 6 }, (_, index) => upgradeStatus(ports[index % 2] ?? 0, 'wrong', from));
    expect(await Promise.race(waiting)).toBe(429);
  });
});

const CHUNK = Buffer.alloc(2 ** 16, 'x');
const FLOOD_MAX_BYTES = 256 * 2 ** 20;

describe.skipIf(!hasOpenssl)('hosts with TLS (skipped where there is no openssl to make certificates)', () => {
  it('[CLU-034] [CLU-035] end it where the client connects, whether or not the active host has it', async () => {
    const folder = await tempFolder();
    const tls = makeCertificate(folder, 'edge', 'DNS:localhost,IP:127.0.0.1');
    await chmod(tls.key, 0o600);
    const ca = await readFile(tls.cert, 'utf8');
    const policy = { token: ECHO_TOKEN, isGenerated: true };
    for (const both of [{ tls }, {}]) {
      const server = await startEcho(both);
      const { port } = await edgeBefore({ link: await linkTo(server), policy, tls });
      const headers = { ...bearer(ECHO_TOKEN), origin: `https://localhost:${port}` };
      const websocket = new WebSocket(`wss://localhost:${port}/`, { ca, headers });
      onTestFinished(() => websocket.terminate());
      await once(websocket, 'open');
      expect(await ask(websocket, 'hello')).toBe('hello');
      // The page of this host has `https`; one without is another.
      const plain = new WebSocket(`wss://localhost:${port}/`, {
        ca,
        headers: { ...headers, origin: `http://localhost:${port}` },
      });
      plain.on('error', () => {});
      onTestFinished(() => plain.terminate());
      expect(await statusOf(plain)).toBe(403);
    }
  });
});

/** A client at an edge to which an active host writes without an end, each piece when the one before was taken. */
async function flooded(stallMs: number) {
  const server = await startEcho();
  const taken = { bytes: 0, isOver: false };
  const flood = (stream: Duplex) => {
    if (taken.bytes >= FLOOD_MAX_BYTES) return;
    stream.write(CHUNK, (error) => {
      if (error) return;
      taken.bytes += CHUNK.length;
      flood(stream);
    });
  };
  const relayed = (stream: Duplex) => {
    stream.once('close', () => {
      taken.isOver = true;
    });
    stream.resume().write('HTTP/1.1 101 Switching Protocols\r\n\r\n');
    flood(stream);
  };
  const policy = { token: ECHO_TOKEN, isGenerated: true };
  const { port, edge } = await edgeBefore({ link: await linkTo(server, { relayed }), policy, stallMs });
  const client = rawClient(port);
  client.pause();
  client.write(`GET / HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`);
  return { client, taken, edge };
}

describe('a client at a host that stands by, when something is slow or gone', () => {
  it('[CLU-036] that does not read makes the active host wait, and the host between keeps nothing for it', async () => {
    const { client, taken } = await flooded(600_000);
    let before = 0;
    let still = 0;
    const isStill = () => {
      still = taken.bytes > 0 && taken.bytes === before ? still + 1 : 0;
      before = taken.bytes;
      return still >= 20;
    };
    await expect.poll(isStill, { interval: 50, timeout: 20_000 }).toBe(true);
    // What the buffers of the system take, on two connections.
    expect(taken.bytes).toBeLessThan(64 * 2 ** 20);
    client.resume();
    await expect.poll(() => taken.bytes, { timeout: 20_000 }).toBeGreaterThan(128 * 2 ** 20);
  });

  it('[CLU-036] that does not read at all is cut off', async () => {
    const { taken, edge } = await flooded(500);
    await expect.poll(() => taken.isOver, { timeout: 20_000 }).toBe(true);
    expect(edge.clients).toBe(0);
  });

  it('[CLU-036] that is slow receives everything in order', async () => {
    const { server, transport: arrived } = await startManual();
    const { port } = await edgeBefore({ link: await linkTo(server), policy: { token: ECHO_TOKEN, isGenerated: true } });
    const websocket = await opened(port, ECHO_TOKEN);
    const transport = await arrived;
    transport.start({ message: () => {}, drain: () => {}, closed: () => {} });
    let got = 0;
    websocket.on('message', (data) => {
      expect(String(data).slice(0, 8)).toBe(String(got++).padStart(8));
      websocket.pause();
      setImmediate(() => websocket.resume());
    });
    for (let sent = 0; sent < 200; sent++)
      transport.send([new WireFrame(`${String(sent).padStart(8)}${'x'.repeat(2 ** 17)}`)]);
    await expect.poll(() => got, { timeout: 20_000 }).toBe(200);
  });

  it('[CLU-037] is told to connect again when the active host dies, and when another one is active', async () => {
    const first = await echoBehindEdge();
    const cut = await opened(first.port, ECHO_TOKEN);
    const closed = closeOf(cut);
    first.way.cut();
    expect(await closed).toEqual({ code: SERVICE_RESTART, reason: 'the active host is gone; connect again' });
    const moved = await opened(first.port, ECHO_TOKEN);
    const sentAway = closeOf(moved);
    first.activate(undefined);
    expect((await sentAway).code).toBe(SERVICE_RESTART);
    expect(await upgradeStatus(first.port, ECHO_TOKEN)).toBe(503);
    expect((await get(first.port, '/')).status).toBe(503);
  });

  it('[CLU-011] [CLU-037] is sent elsewhere when the link is down, and comes back when it is up', async () => {
    const { port, way, edge } = await echoBehindEdge();
    const websocket = await opened(port, ECHO_TOKEN);
    expect(await get(port, '/readyz')).toMatchObject({ status: 200, text: 'stand-by; a is active' });
    const closed = closeOf(websocket);
    way.hold(true);
    expect((await closed).code).toBe(SERVICE_RESTART);
    expect(edge.health.isReady).toBe(false);
    expect((await get(port, '/readyz')).status).toBe(503);
    way.hold(false);
    await expect.poll(() => edge.health.isReady, { timeout: 20_000 }).toBe(true);
    expect(await ask(await opened(port, ECHO_TOKEN), 'back')).toBe('back');
  });

  it('[CLU-037] hears the active host itself where that closes in good order', async () => {
    const { server, port } = await echoBehindEdge();
    const websocket = await opened(port, ECHO_TOKEN);
    const closed = closeOf(websocket);
    await server.close();
    expect(await closed).toEqual({ code: CloseCode.GoingAway, reason: 'the host is stopping' });
    expect(await upgradeStatus(port, ECHO_TOKEN)).toBe(503);
  });

  it('[CLU-037] is cut off within a frame, and told between two', () => {
    const ends = new FrameEnds();
    const frames = [Buffer.from([0x81, 3, 1, 2, 3]), Buffer.from([0x89, 0])];
    frames.push(Buffer.concat([Buffer.from([0x01, 126, 1, 0]), Buffer.alloc(256)]));
    frames.push(Buffer.concat([Buffer.from([0x80, 127, 0, 0, 0, 0, 0, 1, 0, 0]), Buffer.alloc(65_536)]));
    for (const frame of frames) {
      for (let at = 0; at < frame.length - 1; at++) {
        ends.passed(frame.subarray(at, at + 1));
        expect(ends.isBetween).toBe(false);
      }
      ends.passed(frame.subarray(-1));
      expect([ends.isBetween, ends.hasClosed]).toEqual([true, false]);
    }
    ends.passed(Buffer.concat([...frames, Buffer.from([0x88, 2, 3, 0xe9])]));
    expect([ends.isBetween, ends.hasClosed]).toEqual([true, true]);
  });
});

describe('the link that carries clients', () => {
  it('[CLU-035] takes none from those who do not know the secret, and none where the host is not active', async () => {
    const server = await startEcho();
    const relayed = vi.fn();
    const link = await linkTo(server, { relayed });
    expect(await openRelay(link, 'another-secret-of-the-link', CLIENT)).toBe(undefined);
    const wrong = await edgeBefore({ link, secret: 'another-secret-of-the-link' });
    expect(await upgradeStatus(wrong.port)).toBe(503);
    expect(wrong.edge.health.isReady).toBe(false);
    const inactive = await linkTo(server, { relayed, takesClients: () => false });
    expect(await openRelay(inactive, LINK_SECRET, CLIENT)).toBe(undefined);
    expect(await askLink(inactive, LINK_SECRET, 'engine')).toBe('yes');
    expect(relayed).not.toHaveBeenCalled();
  });

  it('[CLU-035] cannot be entered by a client, in whichever way it begins', async () => {
    const relayed = vi.fn();
    const server = await startEcho();
    const link = await linkTo(server, { relayed });
    const port = Number(link.split(':')[1]);
    const beginnings = [
      `GET / HTTP/1.1\r\nHost: localhost:${port}\r\nAuthorization: Bearer ${ECHO_TOKEN}\r\n\r\n`,
      `${JSON.stringify({ nonce: 'x', question: 'relay', client: JSON.stringify(CLIENT), proof: 'x' })}\n`,
      `${JSON.stringify({ nonce: 'x', question: 'relay', client: JSON.stringify(CLIENT) })}\n`,
      `${'x'.repeat(5_000)}\n`,
    ];
    for (const beginning of beginnings) {
      const socket = connectTcp(port, '127.0.0.1');
      socket.on('error', () => {});
      let said = '';
      socket.setEncoding('utf8').on('data', (text) => {
        said += text;
      });
      socket.write(beginning);
      await once(socket, 'close');
      expect(said).not.toContain('"yes"');
    }
    expect(relayed).not.toHaveBeenCalled();
  });

  it('[CLU-035] carries nothing in the clear, and nothing for somebody who stands between', async () => {
    const server = await startEcho();
    const link = await linkTo(server);
    const heard: Buffer[] = [];
    const spy = createServer((near) => {
      const far = connectTcp(Number(link.split(':')[1]), '127.0.0.1');
      for (const socket of [near, far]) socket.on('data', (chunk) => heard.push(chunk)).on('error', () => {});
      near.pipe(far).pipe(near);
    });
    await new Promise<void>((resolve) => spy.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void spy.close());
    const { port: between } = spy.address() as { port: number };
    const policy = { token: ECHO_TOKEN, isGenerated: true };
    const { port } = await edgeBefore({ link: `127.0.0.1:${between}`, policy });
    const websocket = await opened(port, ECHO_TOKEN);
    expect(await ask(websocket, 'the words of a person')).toBe('the words of a person');
    const all = Buffer.concat(heard).toString('latin1');
    expect(all).toContain('"question":"relay"');
    expect(all).not.toContain('the words of a person');
    expect(all).not.toContain(ECHO_TOKEN);
    expect(all).not.toContain(LINK_SECRET);
  });

  it('[CLU-035] is not encrypted with anything but the secret of this cluster', async () => {
    const server = await startEcho();
    const relayed = vi.fn();
    const link = await linkTo(server, { relayed });
    const stream = await openRelay(link, LINK_SECRET, CLIENT);
    onTestFinished(() => void stream?.destroy());
    expect(stream?.getCipher().name).toBe('ECDHE-PSK-CHACHA20-POLY1305');
    await expect.poll(() => relayed.mock.calls.length).toBe(1);
    expect(relayed.mock.calls[0]?.[1]).toEqual(CLIENT);
    const plain = connectTls({ port: Number(link.split(':')[1]), host: '127.0.0.1', rejectUnauthorized: false });
    const failed = once(plain, 'error');
    expect(await failed).toHaveLength(1);
    expect(relayed).toHaveBeenCalledTimes(1);
  });
});
