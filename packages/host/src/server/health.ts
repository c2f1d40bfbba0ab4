/** What whoever looks after machines asks: does the process live (`/livez`), and are clients served here (`/readyz`)? */
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { listen } from './listen.js';
import { COMMON_HEADERS } from './static-files.js';
import { readTlsPair, type TlsFiles } from './tls-files.js';

/** Whether clients are served here, and in words why not. */
export interface Health {
  readonly isReady: boolean;
  readonly text: string;
}

const ALIVE: Health = { isReady: true, text: 'alive' };
const READY: Health = { isReady: true, text: 'ready' };
/** A host that stands by answers in a line and keeps nobody. */
const STAND_BY_TIMEOUT_MS = 5_000;
const STAND_BY_CONNECTIONS_MAX = 256;
const ELSEWHERE = { 'Retry-After': 1, Connection: 'close', 'Content-Type': 'text/plain; charset=utf-8' };

/** Answers the two questions, and says whether it was one of them. */
export function answerHealth(request: IncomingMessage, response: ServerResponse, ready: Health = READY): boolean {
  const health = { '/livez': ALIVE, '/readyz': ready }[request.url?.split('?')[0] ?? ''];
  if (!health || (request.method !== 'GET' && request.method !== 'HEAD')) return false;
  response.writeHead(health.isReady ? 200 : 503, { ...COMMON_HEADERS, 'Content-Type': 'text/plain; charset=utf-8' });
  response.end(`${health.text}\n`);
  return true;
}

export interface StandByServer {
  readonly port: number;
  close(): Promise<void>;
}

export interface StandByOptions {
  readonly host: string;
  readonly port: number;
  readonly tls?: TlsFiles | undefined;
  health(): Health;
}

/** Listens where the host will, and sends clients elsewhere in HTTP: they, or what stands before them, try another host. */
export async function startStandByServer({ host, port, tls: files, health }: StandByOptions): Promise<StandByServer> {
  const tls = files && (await readTlsPair(files)).options;
  const { servers, port: bound } = await listen({ host, port, tls, headersTimeoutMs: STAND_BY_TIMEOUT_MS });
  for (const server of servers) {
    server.maxConnections = STAND_BY_CONNECTIONS_MAX;
    server.requestTimeout = STAND_BY_TIMEOUT_MS;
    server.on('request', (request, response) => {
      if (answerHealth(request, response, health())) return;
      response.writeHead(503, { ...COMMON_HEADERS, ...ELSEWHERE }).end(`${health().text}\n`);
    });
    server.on('upgrade', (_request, socket) => {
      socket.on('error', () => socket.destroy());
      const headers = Object.entries(ELSEWHERE).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.end(`HTTP/1.1 503 ${STATUS_CODES[503]}\r\n${headers.join('')}\r\n${health().text}\n`);
    });
  }
  return {
    port: bound,
    async close() {
      const closed = servers.map((server) => new Promise((resolve) => server.close(resolve)));
      for (const server of servers) server.closeAllConnections();
      await Promise.all(closed);
    },
  };
}
