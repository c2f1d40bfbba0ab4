import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { WebSocket } from 'ws';
import { TokenRequiredError } from '../../src/server/access.js';
import { UNAUTHENTICATED_MAX } from '../../src/server/limits.js';
import { startServer } from '../../src/server/server.js';
import {
  ask,
  client,
  closeOf,
  openClient,
  rawClient,
  received,
  startEcho,
  statusOf,
  TestClock,
  TOKEN,
} from './transports/support.js';

async function http(port: number, path: string, options: { method?: string; host?: string } = {}) {
  const { method = 'GET', host = `127.0.0.1:${port}` } = options;
  const outgoing = request({ port, host: '127.0.0.1', path, method, headers: { host } });
  outgoing.end();
  const [response] = await once(outgoing, 'response');
  let body = '';
  for await (const chunk of response) body += chunk;
  return { status: response.statusCode, body, headers: response.headers };
}

describe('plain HTTP', () => {
  it('says what this is, and nothing else', async () => {
    const { port } = await startEcho();
    const { status, body, headers } = await http(port, '/');
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(body).toContain('This is Atrium');
  });

  it.each([
    ['GET', '/x'],
    ['GET', '/../'],
    ['POST', '/'],
    ['DELETE', '/'],
    ['OPTIONS', '/'],
  ])('%s %s: 404 without a body', async (method, path) => {
    const { port } = await startEcho();
    expect(await http(port, path, { method })).toMatchObject({ status: 404, body: '' });
  });

  it('[REL-002] answers 403 to a foreign Host, also without an upgrade', async () => {
    const { port } = await startEcho();
    expect(await http(port, '/', { host: `evil.test:${port}` })).toMatchObject({ status: 403, body: '' });
  });
});

describe('an upgrade over the wire', () => {
  const page = 'http://localhost:5173';

  it.each<[string, Parameters<typeof client>[1], number]>([
    ['[REL-001] no Origin', {}, 101],
    ['[REL-001] a listed Origin', { origin: page }, 101],
    ['[REL-001] another Origin', { origin: 'https://evil.test' }, 403],
    ['[REL-001] the Origin null', { origin: 'null' }, 403],
    ['[REL-002] a foreign Host', { headers: { host: 'evil.test' } }, 403],
    ['[REL-003] the token as tkn', { query: `?tkn=${TOKEN}` }, 101],
    ['[REL-003] the token in the header', { query: '', headers: { authorization: `Bearer ${TOKEN}` } }, 101],
    ['[REL-003] no token', { query: '' }, 401],
    ['[REL-003] a wrong token', { query: '?token=wrong' }, 401],
    ['[REL-003] the token twice', { query: `?token=${TOKEN}&token=${TOKEN}` }, 401],
    ['[REL-003] the token as a subprotocol', { query: '', headers: { 'sec-websocket-protocol': TOKEN } }, 401],
  ])('%s', async (_, options, status) => {
    const { port } = await startEcho({ policy: { token: TOKEN, allowedOrigins: [page] } });
    expect(await statusOf(client(port, options))).toBe(status);
  });

  it('[REL-003] gives every wrong token the very same answer', async () => {
    const { port } = await startEcho();
    const answers = ['', '?token=', '?token=wrong', `?token=${TOKEN}x`, `?token=${TOKEN}&tkn=x`].map((query) => {
      const socket = rawClient(port);
      socket.write(upgradeRequest(port, `/${query}`));
      return received(socket);
    });
    const [first, ...others] = await Promise.all(answers);
    expect(first).toMatch(/^HTTP\/1\.1 401 Unauthorized\r\n/);
    for (const other of others) expect(other).toBe(first);
  });

  it('[REL-004] never says the token: not in a refusal, not in the log', async () => {
    const log = vi.fn();
    const { port } = await startEcho({ logger: { log } });
    const wrong = rawClient(port);
    wrong.write(upgradeRequest(port, `/?token=${TOKEN}&token=${TOKEN}`));
    expect(await received(wrong)).not.toContain(TOKEN);
    (await openClient(port)).terminate();
    expect(log).toHaveBeenCalledWith('warn', 'connection refused', expect.objectContaining({ status: 401 }));
    expect(JSON.stringify(log.mock.calls)).not.toContain(TOKEN);
  });

  it('refuses two Host headers', async () => {
    const { port } = await startEcho();
    const socket = rawClient(port);
    socket.write(upgradeRequest(port, `/?token=${TOKEN}`).replace('\r\n', `\r\nHost: evil.test\r\n`));
    expect(await received(socket)).toMatch(/^HTTP\/1\.1 40[03] /);
  });
});

describe('[REL-006] a peer that behaves badly does not keep others out', () => {
  it('cuts off a request that is dripped out byte by byte', async () => {
    const { port } = await startEcho({ limits: { headersTimeoutMs: 3_000 } });
    const slow = rawClient(port);
    slow.write('GET / HTTP/1.1\r\n');
    const dripping = setInterval(() => slow.write('X-A: b\r\n'), 50);
    onTestFinished(() => clearInterval(dripping));
    expect(await ask(await openClient(port), 'served meanwhile')).toBe('served meanwhile');
    // What comes after the answer makes the system throw the answer away, if it has not been read yet, or reset the line.
    expect(await received(slow).catch((error: NodeJS.ErrnoException) => error.code)).toMatch(
      /^(HTTP\/1\.1 408 |ECONNRESET$|EPIPE$|$)/,
    );
  });

  it('answers oversized headers with 431', async () => {
    const { port } = await startEcho();
    const socket = rawClient(port);
    socket.write(`GET / HTTP/1.1\r\nHost: localhost\r\nX-Big: ${'x'.repeat(20_000)}\r\n\r\n`);
    expect(await received(socket)).toMatch(/^HTTP\/1\.1 431 /);
    expect(await ask(await openClient(port), 'served')).toBe('served');
  });

  it('outlives sockets that end or break in the middle of a request', async () => {
    const { port } = await startEcho();
    const half = rawClient(port);
    half.end('GET / HTTP/1.1\r\nHost: loc');
    const broken = rawClient(port);
    broken.write(upgradeRequest(port, `/?token=${TOKEN}`));
    broken.resetAndDestroy();
    const gone = await openClient(port);
    gone.terminate();
    expect(await ask(await openClient(port), 'served')).toBe('served');
  });

  it('closes on rubbish behind a good upgrade', async () => {
    const { port } = await startEcho();
    const socket = rawClient(port);
    socket.write(`${upgradeRequest(port, `/?token=${TOKEN}`)}this is no frame`);
    expect(await received(socket)).toMatch(/^HTTP\/1\.1 101 /);
    expect(await ask(await openClient(port), 'served')).toBe('served');
  });

  it('keeps 32 strangers at most: the oldest has to go, and a client still gets in', async () => {
    const { port } = await startEcho();
    const strangers = await Promise.all(
      Array.from({ length: UNAUTHENTICATED_MAX }, async () => {
        const socket = rawClient(port);
        await once(socket, 'connect');
        return socket;
      }),
    );
    await ask(await openClient(port), 'one more');
    const closed = () => strangers.filter(({ closed }) => closed);
    strangers.forEach((socket) => void socket.resume());
    await vi.waitFor(() => expect(closed()).toHaveLength(1), 10_000);
    expect(closed()).toEqual(strangers.slice(0, 1));
  });
});

describe('the number of clients', () => {
  it('has a limit: one more is refused with a reason, those inside keep working, a free place is taken', async () => {
    const { port } = await startEcho({ limits: { clients: 3 } });
    const inside = [await openClient(port), await openClient(port), await openClient(port)];
    const socket = rawClient(port);
    socket.write(upgradeRequest(port, `/?token=${TOKEN}`));
    expect(await received(socket)).toMatch(/^HTTP\/1\.1 503 .*All 3 places are taken/s);
    expect(await statusOf(client(port, { query: '' }))).toBe(401);
    for (const websocket of inside) expect(await ask(websocket, 'here')).toBe('here');

    inside[0]?.close();
    await vi.waitFor(async () => expect(await statusOf(client(port))).toBe(101), 10_000);
  });
});

describe('where it listens', () => {
  it('is both loopback addresses under one port by default', async () => {
    const server = await startEcho({ host: 'localhost' });
    expect(server.addresses).toContain('127.0.0.1');
    for (const address of server.addresses) {
      const name = address.includes(':') ? `[${address}]` : address;
      const websocket = new WebSocket(`ws://${name}:${server.port}/?token=${TOKEN}`);
      await once(websocket, 'open');
      expect(await ask(websocket, name)).toBe(name);
      websocket.terminate();
    }
  });

  it('is a port that the user names, and fails when that is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    onTestFinished(() => void taken.close());
    const address = taken.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const options = { host: 'localhost', port, policy: { token: TOKEN }, onConnection: () => {} };
    await expect(startServer(options)).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  it('[REL-005] is never beyond this machine without a token', async () => {
    const options = { host: '0.0.0.0', policy: {}, onConnection: () => {} };
    await expect(startServer(options)).rejects.toThrow(TokenRequiredError);
  });

  it('needs no token on this machine when the user says so', async () => {
    const { port } = await startEcho({ policy: {} });
    expect(await statusOf(client(port, { query: '' }))).toBe(101);
    expect(await statusOf(client(port, { query: '', origin: 'https://evil.test' }))).toBe(403);
  });
});

describe('stopping', () => {
  it('first lets nobody new in, then sends everybody away with 1001 and frees the port', async () => {
    const clock = new TestClock();
    // Outside the range from which the system gives out ports: nobody else takes it when it is free again.
    const server = await startEcho({ clock, port: 20_000 + Math.floor(Math.random() * 10_000) });
    const websocket = await openClient(server.port);
    const idle = rawClient(server.port);
    await once(idle, 'connect');

    server.stopAccepting();
    expect(await ask(websocket, 'still here')).toBe('still here');
    await expect(openClient(server.port)).rejects.toThrow(/ECONNREFUSED|ECONNRESET/);

    const closed = closeOf(websocket);
    await server.close();
    expect(await closed).toEqual({ code: 1001, reason: 'the host is stopping' });
    expect(clock.pending).toBe(0);
    await (await startEcho({ port: server.port })).close();
  });
});

function upgradeRequest(port: number, path: string): string {
  return [
    `GET ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    '\r\n',
  ].join('\r\n');
}
