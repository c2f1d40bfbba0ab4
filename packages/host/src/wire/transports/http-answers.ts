/** The few things that are said in plain HTTP: what this is, and why an upgrade was refused. */
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

const PAGE = `This is Atrium, a host for AI coding agents.
Connect with a WebSocket client that speaks the Agent Host Protocol. There is nothing else to see here yet.
`;

const COMMON_HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
};

/** Answers a request that is no upgrade. */
export function answerPage(request: IncomingMessage, response: ServerResponse): void {
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (!isRead || request.url?.split('?')[0] !== '/') return answerNothing(response, 404);
  response.writeHead(200, { ...COMMON_HEADERS, 'Content-Type': 'text/plain; charset=utf-8' }).end(PAGE);
}

/** The connection ends with the answer, so that nobody can go on sending a body. */
export function answerNothing(response: ServerResponse, status: number): void {
  response.writeHead(status, { ...COMMON_HEADERS, Connection: 'close', 'Content-Length': 0 }).end();
}

/** Answers an upgrade request with a refusal, and hangs up. */
export function refuseUpgrade(socket: Duplex, status: number, reason: string): void {
  const body = `${reason}\n`;
  const headers = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(status === 401 ? ['WWW-Authenticate: Bearer'] : []),
    ...(status === 503 ? ['Retry-After: 5'] : []),
  ];
  socket.once('finish', () => socket.destroy());
  socket.end(`${headers.join('\r\n')}\r\n\r\n${body}`);
}
