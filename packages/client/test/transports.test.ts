import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MessageChannel } from 'node:worker_threads';
import type { SocketLike } from '@atrium/link';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Client, connect, memoryPair, messagePortTransport, type PortLike, type Transport } from '../src/index.js';
import { webSocketTransport, withToken } from '../src/websocket.js';
import { newHost } from './support/connected.js';
import { settle } from './support/fake-clock.js';
import type { FakeHost } from './support/fake-host.js';
import { drafted, ONE } from './support/states.js';

const cleanUp: (() => void)[] = [];
afterEach(() => {
  for (const end of cleanUp.splice(0)) end();
  vi.unstubAllGlobals();
});

/** A WebSocket server on a free port, in front of a fake host. */
async function serve(
  host: FakeHost,
): Promise<{ url: string; upgrades: IncomingMessage[]; hangUp(code: number): void }> {
  const { WebSocketServer } = (await import('ws' as string)) as {
    WebSocketServer: new (options: {
      server: Server;
    }) => {
      on(
        event: 'connection',
        listener: (socket: SocketLike & { close(code: number): void }, request: IncomingMessage) => void,
      ): void;
      close(): void;
    };
  };
  const server = createServer();
  const sockets = new WebSocketServer({ server });
  const upgrades: IncomingMessage[] = [];
  let last: { close(code: number): void } | undefined;
  sockets.on('connection', (socket, request) => {
    upgrades.push(request);
    last = socket;
    const onMessage: Transport['onMessage'] = (listener) => {
      socket.onmessage = ({ data }) => listener(String(data));
    };
    host.accept({ send: (text) => socket.send(text), close: () => socket.close(1000), onMessage, onClose: () => {} });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUp.push(() => {
    sockets.close();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `ws://127.0.0.1:${port}/`, upgrades, hangUp: (code) => last?.close(code) };
}

function closing(client: Client): Client {
  cleanUp.push(() => client.close());
  return client;
}

const nextStatus = (client: Client, at: string) =>
  new Promise<void>((resolve) => client.onStatus((status) => status.at === at && resolve()));

describe('a WebSocket', () => {
  it('in Node sends the token in a header, and carries a session', async () => {
    const host = newHost();
    const { url, upgrades } = await serve(host);
    const client = closing(await connect({ url, token: 'sesame' }));
    const one = await client.subscribe(ONE);
    await one.dispatch(drafted('A'));
    expect(one.confirmed.draft?.text).toBe('A');
    expect(upgrades[0]?.headers.authorization).toBe('Bearer sesame');
    expect(upgrades[0]?.url).toBe('/');
  });

  it('asks for the token anew at every attempt', async () => {
    const { url, upgrades, hangUp } = await serve(newHost());
    let count = 0;
    const client = closing(await connect({ url, token: async () => `token-${++count}` }));
    const waiting = nextStatus(client, 'waiting');
    hangUp(1001);
    await waiting;
    const open = nextStatus(client, 'open');
    client.reconnectNow();
    await open;
    expect(upgrades.map(({ headers }) => headers.authorization)).toEqual(['Bearer token-1', 'Bearer token-2']);
  });

  it('ends for good with the code that says so', async () => {
    const { url, hangUp } = await serve(newHost());
    const client = closing(await connect({ url }));
    const closed = nextStatus(client, 'closed');
    hangUp(4002);
    await closed;
    expect(client.status).toMatchObject({ at: 'closed' });
  });

  it('that cannot be opened says where and what to check, without the token', async () => {
    const failed = connect({ url: 'ws://127.0.0.1:1/?token=sesame', token: 'sesame' });
    await expect(failed).rejects.toThrow('Cannot connect to ws://127.0.0.1:1/');
    await expect(failed).rejects.not.toThrow('sesame');
  });

  it.each(['nope', '', 'ftp://localhost', 'ws://localhost:9300/#token=sesame'])(
    'to "%s" says how to write it',
    async (url) => {
      const failed = connect({ url, token: 'sesame' });
      await expect(failed).rejects.toThrow(/is no address of a host\. Write it as ws:\/\/localhost:9300/);
      await expect(failed).rejects.not.toThrow('sesame');
    },
  );

  it.each([
    [401, /ws:\/\/127\.0\.0\.1:\d+\/ refuses the token/],
    [403, /does not let this name or page in/],
  ])('that is refused with %i says why', async (status, words) => {
    const server = createServer();
    server.on('upgrade', (_request, socket) => socket.end(`HTTP/1.1 ${status} No\r\nConnection: close\r\n\r\n`));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanUp.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    const failed = connect({ url: `ws://127.0.0.1:${port}/`, token: 'sesame' });
    await expect(failed).rejects.toThrow(words);
    await expect(failed).rejects.toMatchObject({ name: 'AccessRefusedError', status });
  });

  it('in a browser sends the token in the query', async () => {
    const urls: string[] = [];
    // What vitest itself needs of it stays.
    vi.stubGlobal('process', Object.create(process, { versions: { value: {} } }));
    vi.stubGlobal(
      'WebSocket',
      class {
        constructor(url: string) {
          urls.push(url);
          setImmediate(() => (this as unknown as SocketLike).onclose?.({ code: 1006, reason: '' }));
        }
      },
    );
    await expect(connect({ url: 'wss://host.test/ahp?x=1', token: 'a b' })).rejects.toThrow('wss://host.test/ahp');
    expect(urls).toEqual(['wss://host.test/ahp?x=1&token=a+b']);
    expect(withToken('wss://host.test', undefined)).toBe('wss://host.test');
  });
});

it('[REL-058] in Node takes a message that is larger than ws allows by itself, in fragments', async () => {
  const PIECE = 'x'.repeat(2 ** 20);
  const { WebSocketServer } = (await import('ws' as string)) as { WebSocketServer: FragmentServer };
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  cleanUp.push(() => server.close());
  server.on('connection', (socket) => {
    for (let sent = 1; sent <= 101; sent += 1) socket.send(PIECE, { fin: sent === 101 });
  });
  await new Promise<void>((resolve) => server.on('listening', resolve));
  const transport = await webSocketTransport({ url: `ws://127.0.0.1:${server.address().port}` })();
  const length = await new Promise((resolve, reject) => {
    transport.onMessage((text) => resolve(text.length));
    transport.onClose(({ reason }) => reject(new Error(reason)));
  });
  transport.close();
  expect(length).toBe(101 * 2 ** 20);
});

type FragmentServer = new (options: {
  port: number;
  host: string;
}) => {
  on(event: 'connection', listener: (socket: { send(text: string, options: { fin: boolean }): void }) => void): void;
  on(event: 'listening', listener: () => void): void;
  address(): AddressInfo;
  close(): void;
};

describe('a MessagePort', () => {
  it('carries a session, and tells when it is closed', async () => {
    const host = newHost();
    const { port1, port2 } = new MessageChannel();
    host.accept(messagePortTransport(port2 as unknown as PortLike));
    const client = closing(await connect({ transport: () => messagePortTransport(port1 as unknown as PortLike) }));
    const one = await client.subscribe(ONE);
    await one.dispatch(drafted('A'));
    expect(one.confirmed.draft?.text).toBe('A');
    const waiting = nextStatus(client, 'waiting');
    port2.close();
    await waiting;
  });
});

describe('a pair in memory', () => {
  it('delivers in order, never in the same call, and keeps what comes early', async () => {
    const [near, far] = memoryPair();
    near.send('1');
    await settle();
    near.send('2');
    const got: string[] = [];
    far.onMessage((text) => got.push(text));
    expect(got).toEqual(['1']);
    near.send('3');
    await settle();
    expect(got).toEqual(['1', '2', '3']);
  });

  it('tells both ends once that it is closed, and is silent afterwards', async () => {
    const [near, far] = memoryPair();
    const closed: string[] = [];
    near.onClose(({ reason }) => closed.push(`near: ${reason}`));
    far.onClose(({ reason }) => closed.push(`far: ${reason}`));
    near.send('lost');
    near.close();
    far.close();
    near.send('never');
    await settle();
    expect(closed).toEqual(['near: closed here', 'far: closed here']);
  });
});
