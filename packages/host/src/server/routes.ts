/**
 * Requests that are no page and no upgrade: parts of the host answer them with a little JSON. Everything that a stranger
 * sends is bounded here, and a page of others cannot send anything: what changes something has to be JSON, and from the
 * host's own page or from a program.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Access } from '@atrium/core/contracts/access.js';
import type { RequestSource } from './forwarded.js';
import { ROUTE_BODY_MAX_BYTES, ROUTE_BODY_TIMEOUT_MS } from './limits.js';
import { tokenCookie } from './offered-token.js';
import { SECURITY_HEADERS } from './security-headers.js';

/** A request to a route. */
export interface RouteRequest {
  readonly source: RequestSource;
  /** From the host's own page; otherwise a program sent it. */
  readonly isPage: boolean;
  /** What the token of the request allows, if it has one: in a header, or, from the page, in its cookie. */
  readonly access: Access | undefined;
  /** The token that it has in a header. */
  readonly token: string | undefined;
  /** What the program calls itself. */
  readonly userAgent: string | undefined;
  readonly query: URLSearchParams;
  /** What was posted; undefined where nothing was. */
  readonly body: unknown;
}

export interface RouteReply {
  readonly status: number;
  readonly json?: object;
  /** The token that the page keeps from now on, in a cookie, and for how many seconds; `null` takes it away. */
  readonly cookie?: { readonly token: string; readonly seconds?: number | undefined } | null;
  /** When to try again. */
  readonly retryAfterSeconds?: number;
}

export interface Route {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  answer(request: RouteRequest): RouteReply | Promise<RouteReply>;
}

/** The posted JSON; a number is the status to refuse it with. A form, which any page can send, is none. */
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
