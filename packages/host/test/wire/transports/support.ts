/** Real sockets and streams for tests: a server that echoes, clients that remember, and a clock that a test moves. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Clock } from '@atrium/core/util/clock.js';
import { WireFrame } from '@atrium/core/wire/frames.js';
import type { Transport } from '@atrium/core/wire/transport.js';
import { onTestFinished } from 'vitest';
import { type ClientOptions, WebSocket } from 'ws';
import { type RunningServer, type ServerOptions, startServer } from '../../../src/server/server.js';

export const TOKEN = 'a-token-for-tests';

/** Answers every message with itself. */
export function echo(transport: Transport): void {
  transport.start({
    message: (text) => transport.send([new WireFrame(text)]),
    drain: () => {},
    closed: () => {},
  });
}

export async function startEcho(options: Partial<ServerOptions> = {}): Promise<RunningServer> {
  const server = await startServer({ host: '127.0.0.1', policy: { token: TOKEN }, onConnection: echo, ...options });
  onTestFinished(() => server.close());
  return server;
}

/** A server whose next connection is handed to the test, not yet started. */
export async function startManual(options: Partial<ServerOptions> = {}) {
  let arrived: (transport: Transport) => void = () => {};
  const transport = new Promise<Transport>((resolve) => {
    arrived = resolve;
  });
  return { server: await startEcho({ ...options, onConnection: arrived }), transport };
}

export function client(port: number, options: ClientOptions & { query?: string } = {}): WebSocket {
  const { query = `?token=${TOKEN}`, ...rest } = options;
  const websocket = new WebSocket(`ws://127.0.0.1:${port}/${query}`, rest);
  websocket.on('error', () => {});
  onTestFinished(() => websocket.terminate());
  return websocket;
}

export async function openClient(port: number, options?: Parameters<typeof client>[1]): Promise<WebSocket> {
  const websocket = client(port, options);
  await once(websocket, 'open');
  return websocket;
}

/** 101, or the status of the refusal. */
export function statusOf(websocket: WebSocket): Promise<number | undefined> {
  return new Promise((resolve) => {
    websocket.once('open', () => resolve(101));
    websocket.once('unexpected-response', (_, response) => resolve(response.statusCode));
  });
}

export async function ask(websocket: WebSocket, text: string): Promise<string> {
  const answer = once(websocket, 'message');
  websocket.send(text);
  return String((await answer)[0]);
}

export async function closeOf(websocket: WebSocket): Promise<{ code: number; reason: string }> {
  const [code, reason] = await once(websocket, 'close');
  return { code, reason: String(reason) };
}

/** A bare TCP connection. */
export function rawClient(port: number): Socket {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  onTestFinished(() => {
    socket.destroy();
  });
  return socket;
}

/** Everything a socket receives until it is closed. */
export async function received(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  await once(socket, 'close');
  return text;
}

/** Stands still until a test moves it. */
export class TestClock implements Clock {
  #now = 0;
  #timers: { readonly at: number; readonly callback: () => void }[] = [];

  get pending(): number {
    return this.#timers.length;
  }

  now(): number {
    return this.#now;
  }

  after(milliseconds: number, callback: () => void): () => void {
    const timer = { at: this.#now + milliseconds, callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  advance(milliseconds: number): void {
    this.#now += milliseconds;
    const due = this.#timers.filter(({ at }) => at <= this.#now);
    this.#timers = this.#timers.filter(({ at }) => at > this.#now);
    for (const { callback } of due) callback();
  }
}
