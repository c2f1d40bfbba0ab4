/** A real host behind its real server, and what devices, pages and strangers send to it. */
import { once } from 'node:events';
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import type { Log } from '@atrium/core/log/log.js';
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import type { Clock } from '@atrium/core/util/clock.js';
import type { Logger } from '@atrium/core/util/logger.js';
import { type DeviceInvitation, REDEEM_PATH } from '@atrium/protocol/ahp-1';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { createHost } from '../../src/host.js';
import type { Host, HostOptions } from '../../src/host-options.js';
import { type RunningServer, type ServerOptions, startServer } from '../../src/server/server.js';
import { RawClient } from './test-host.js';

export const TOKEN = 'the-token-of-the-tests-0123456789';
/** After it was replaced. */
export const NEXT_TOKEN = 'another-token-of-the-tests-0123456789';

export interface DeviceHost {
  readonly host: Host;
  readonly log: Log;
  readonly port: number;
  readonly server: RunningServer;
  /** The owner on this machine. */
  readonly owner: RawClient;
  /** A request over HTTP; a body is sent as JSON. */
  ask(path: string, options?: AskOptions): Promise<HttpAnswer>;
  /** The status of an upgrade: 101 when it is let in. The socket is closed at once. */
  upgrade(options?: SocketOptions): Promise<number>;
  /** A socket that was let in. */
  open(options?: SocketOptions): Promise<WebSocket>;
  invite(params?: object): Promise<DeviceInvitation>;
  redeem(code: string, headers?: OutgoingHttpHeaders): Promise<HttpAnswer>;
  /** Lets a program in, and says what it got. */
  admit(params?: object): Promise<{ id: string; token: string }>;
  stop(): Promise<void>;
}

export interface AskOptions {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: unknown;
  /** In place of the JSON of the body. */
  readonly text?: string;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

export interface SocketOptions {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly protocols?: readonly string[];
}

interface FixtureOptions {
  readonly log?: Log;
  readonly clock?: Clock;
  readonly logger?: Logger;
  readonly host?: Partial<HostOptions>;
  readonly server?: Partial<ServerOptions>;
  /** Whether nobody can read what devices send. */
  readonly isPrivate?: boolean;
}

export async function startDeviceHost(options: FixtureOptions = {}): Promise<DeviceHost> {
  const { log = new MemoryLog(), clock, logger, isPrivate = true } = options;
  const common = { ...(clock && { clock }), ...(logger && { logger }) };
  const host = await createHost({ log, agents: [], ...common, ...options.host });
  const server = await startServer({
    ...{ policy: { token: TOKEN, isGenerated: true }, devices: host.devices, ...common },
    onConnection: (transport, access) => host.connect(transport, access),
    ...options.server,
  });
  const { port } = server;
  const { token: connectionToken } = options.server?.policy ?? { token: TOKEN };
  await host.devices.reachedAt({
    ...{ isPrivate, addresses: () => [`http://localhost:${port}`], connectionToken },
    rotateToken: async () => ({ token: NEXT_TOKEN, closing: server.changeToken(NEXT_TOKEN) }),
  });
  let isStopped = false;
  const stop = async () => {
    if (isStopped) return;
    isStopped = true;
    await host.stop();
    await server.close();
  };
  onTestFinished(stop);
  const owner = new RawClient();
  host.connect(owner.transport);
  await owner.initialize(`owner-${port}`);
  const ask = (path: string, asked: AskOptions = {}) => askHttp(port, path, asked);
  const redeem = (code: string, headers: OutgoingHttpHeaders = {}) =>
    ask(REDEEM_PATH, { method: 'POST', headers, body: { code } });
  const invite = (params: object = {}) => owner.request<DeviceInvitation>('atrium/addDevice', params);
  return {
    ...{ host, log, port, server, owner, ask, redeem, invite, stop },
    upgrade: (socket = {}) => statusOf(dial(port, socket)),
    open: async (socket = {}) => {
      const websocket = dial(port, socket);
      await once(websocket, 'open');
      onTestFinished(() => websocket.terminate());
      return websocket;
    },
    admit: async (params) => {
      const { text } = await redeem((await invite(params)).code);
      return JSON.parse(text) as { id: string; token: string };
    },
  };
}

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** The cookie that an answer sets, as the browser sends it. */
export function cookieIn({ headers }: HttpAnswer): string {
  return headers['set-cookie']?.[0]?.split(';')[0] ?? '';
}

function dial(port: number, { path = '/', headers = {}, protocols = [] }: SocketOptions): WebSocket {
  return new WebSocket(`ws://localhost:${port}${path}`, [...protocols], { headers: { ...headers } });
}

function statusOf(websocket: WebSocket): Promise<number> {
  return new Promise((resolve, reject) => {
    websocket.on('error', () => {});
    websocket.once('open', () => {
      websocket.close();
      resolve(101);
    });
    websocket.once('unexpected-response', (_request, response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    websocket.once('close', () => reject(new Error('closed without an answer')));
  });
}

async function askHttp(port: number, path: string, { method, headers, body, text }: AskOptions): Promise<HttpAnswer> {
  const sent = text ?? (body === undefined ? undefined : JSON.stringify(body));
  const type = sent === undefined ? {} : { 'content-type': 'application/json' };
  const asked = request({
    ...{ host: '127.0.0.1', port, path, agent: false, method: method ?? (sent === undefined ? 'GET' : 'POST') },
    headers: { host: `localhost:${port}`, ...type, ...headers },
  });
  asked.end(sent);
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return { status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(chunks).toString() };
}
