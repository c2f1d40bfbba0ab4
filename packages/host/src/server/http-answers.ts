/** The few things that are said in plain HTTP about what this is. Refusals are the business of the door. */
import type { IncomingMessage, ServerResponse } from 'node:http';

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
