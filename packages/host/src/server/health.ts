/**
 * The two questions of load balancers and monitors: is the process alive (`/livez`), and does it serve clients
 * (`/readyz`)?
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { COMMON_HEADERS } from './static-files.js';

/** Whether the host serves clients, and if not, why. */
export interface Health {
  readonly isReady: boolean;
  readonly text: string;
}

const ALIVE: Health = { isReady: true, text: 'alive' };
const READY: Health = { isReady: true, text: 'ready' };

/** Answers a request for `/livez` or `/readyz`; returns whether it was one. */
export function answerHealth(request: IncomingMessage, response: ServerResponse, ready: Health = READY): boolean {
  const health = { '/livez': ALIVE, '/readyz': ready }[request.url?.split('?')[0] ?? ''];
  if (!health || (request.method !== 'GET' && request.method !== 'HEAD')) return false;
  response.writeHead(health.isReady ? 200 : 503, { ...COMMON_HEADERS, 'Content-Type': 'text/plain; charset=utf-8' });
  response.end(`${health.text}\n`);
  return true;
}
