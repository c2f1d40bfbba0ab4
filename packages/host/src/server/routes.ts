/**
 * Routes: parts of the host answer these requests with a little JSON. Everything that a stranger sends is bounded here.
 * Other web pages cannot send anything that changes something: such requests have to be JSON, from the host's own page
 * or from a program.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Access } from '@atrium/core/contracts/access.js';
import type { RequestSource } from './forwarded.js';
import { ROUTE_BODY_MAX_BYTES, ROUTE_BODY_TIMEOUT_MS } from './limits.js';
import { tokenCookie } from './offered-token.js';
import { SECURITY_HEADERS } from './security-headers.js';

export interface RouteRequest {
  readonly source: RequestSource;
  /** Whether the host's own page sent the request; otherwise a program did. */
  readonly isPage: boolean;
  /** What the token of the request allows, if it has one in a header or, from the page, in its cookie. */
  readonly access: Access | undefined;
  /** The token in the header of the request. */
  readonly token: string | undefined;
  /** The name that the program gives itself. */
  readonly userAgent: string | undefined;
  readonly query: URLSearchParams;
  /** The posted JSON; undefined without a body. */
  readonly body: unknown;
}

export interface RouteReply {
  readonly status: number;
  readonly json?: object;
  /** Sets the cookie with the token of the page, for so many seconds; `null` removes it. */
  readonly cookie?: { readonly token: string; readonly seconds?: number | undefined } | null;
  /** Seconds until the next attempt. */
  readonly retryAfterSeconds?: number;
}

export interface Route {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  answer(request: RouteRequest): RouteReply | Promise<RouteReply>;
}

/**
 * Reads the posted JSON; returns a status when the request must be refused. A form does not count, because any page can
 * send one.
 */
export async function readBody(request: IncomingMessage): Promise<{ readonly json: unknown } | number> {
  const [type = '', another] = request.headersDistinct['content-type'] ?? [];
  if (another !== undefined || !/^application\/json\s*(;|$)/i.test(type)) return 415;
  if (request.headers['content-encoding'] !== undefined) return 415;
  const chunks: Buffer[] = [];
  let bytes = 0;
  const timeout = setTimeout(() => request.destroy(), ROUTE_BODY_TIMEOUT_MS);
  try {
    for await (const chunk of request) {
      bytes += chunk.length;
      if (bytes > ROUTE_BODY_MAX_BYTES) return 413;
      chunks.push(chunk);
    }
    return { json: JSON.parse(Buffer.concat(chunks).toString()) };
  } catch {
    return 400;
  } finally {
    clearTimeout(timeout);
  }
}

export function sendReply(
  response: ServerResponse,
  { status, json, cookie, retryAfterSeconds }: RouteReply,
  { hostId, scheme }: { readonly hostId: string; readonly scheme: RequestSource['scheme'] },
): void {
  if (response.destroyed || response.headersSent) return;
  const body = json === undefined ? '' : JSON.stringify(json);
  const token = cookie === null ? { token: '', seconds: 0 } : cookie;
  response.writeHead(status, {
    ...SECURITY_HEADERS,
    'Cache-Control': 'no-store',
    ...(json && { 'Content-Type': 'application/json; charset=utf-8' }),
    'Content-Length': Buffer.byteLength(body),
    ...(retryAfterSeconds !== undefined && { 'Retry-After': retryAfterSeconds }),
    ...(token && { 'Set-Cookie': tokenCookie(token.token, { hostId, scheme, seconds: token.seconds }) }),
    ...(status >= 400 && { Connection: 'close' }),
  });
  response.end(body);
}
