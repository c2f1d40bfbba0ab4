/**
 * How requests go to a remote server. What is meant for the server, its headers and its token, never reaches another
 * origin; and whatever ends the connection is noticed here, because here every request passes.
 */
import { connect } from 'node:net';
import type { Clock } from '../../core/util/clock.js';
import { sizeText } from '../../core/util/text.js';
import { within } from '../../core/util/waiting.js';
import type { McpRemoteConfig } from '../customizations/parse/mcp-config.js';
import { type BodyWatch, withBoundedBody } from './bounded-body.js';
import { MCP_MESSAGE_MAX_BYTES, MCP_REACH_TIMEOUT_MS } from './limits.js';
import type { Tokens } from './tokens.js';

export interface ServerWatch {
  /** The server wants to know who is there: 401 or 403. */
  refused(refusal: Refusal): void;
  /** There is no use in going on. */
  lost(message: string): void;
}

export interface Refusal {
  readonly response: Response;
  /** What it was shown, in vain. */
  readonly token: string | undefined;
}

/** Today's servers answer in the answer, older ones on a stream that must stay open. */
export type RemoteKind = McpRemoteConfig['transport'];
type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

export function serverFetch(
  { url, headers }: McpRemoteConfig,
  kind: RemoteKind,
  { tokens, watch }: { readonly tokens: Tokens; readonly watch: ServerWatch },
): Fetch {
  const { origin } = new URL(url);
  return async (address, init = {}) => {
    const target = new URL(address);
    if (target.origin !== origin) {
      throw new Error(`The server at ${origin} sends us on to ${target.origin}. If that is right, change its address.`);
    }
    const token = tokens.current;
    const sent = headersFor(init.headers, headers, token);
    const response = await send(target, { ...init, headers: sent, redirect: 'manual' }, watch);
    // The stream beside the answers is an extra of today's servers: they may refuse it and be in good health.
    const isExtra = kind === 'http' && init.method === 'GET';
    const { status } = response;
    if (!isExtra && (status === 401 || status === 403)) watch.refused({ response, token });
    if (status === 404 && sent.has('mcp-session-id')) watch.lost('The server has forgotten the session.');
    return withBoundedBody(response, bodyWatch(kind, init, watch));
  };
}

/** What the protocol needs comes first, then the token, then what the declaration adds. */
function headersFor(
  given: RequestInit['headers'],
  added: Readonly<Record<string, string>>,
  token: string | undefined,
): Headers {
  const headers = new Headers(given);
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
  for (const [name, value] of Object.entries(added)) {
    try {
      if (!headers.has(name)) headers.set(name, value);
    } catch {
      // The system's own error would show the value.
      throw new Error(`The header ${JSON.stringify(name)} of the server's declaration cannot be sent; check it.`);
    }
  }
  return headers;
}

/**
 * Returns when the server's machine takes a connection. A request alone would wait for the system's own limit, which is
 * longer than anybody wants to wait for the word that a server is not there.
 */
export async function reach({ origin, hostname, port, protocol }: URL, clock: Clock): Promise<void> {
  // Then requests go to a proxy, and the server itself may be out of reach from here.
  if (process.env.NODE_USE_ENV_PROXY === '1') return;
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const socket = connect({ host, port: Number(port) || (protocol === 'https:' ? 443 : 80) });
  const connected = new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve).on('error', (error) => reject(unreachable(origin, causeOf(error))));
  });
  const overdue = (): never => {
    throw unreachable(origin, `no answer within ${MCP_REACH_TIMEOUT_MS / 1_000} s`);
  };
  await within(clock, MCP_REACH_TIMEOUT_MS, connected, overdue).finally(() => socket.destroy());
}

function unreachable(origin: string, why: string): Error {
  return new Error(`The server at ${origin} cannot be reached: ${why}.`);
}

async function send(url: URL, init: RequestInit, watch: ServerWatch): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    if (!init.signal?.aborted) watch.lost(unreachable(url.origin, causeOf(error)).message);
    throw error;
  }
}

/** Node says "fetch failed", and hides why in the cause. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  return cause.message || ('code' in cause ? String(cause.code) : cause.name);
}

function bodyWatch(kind: RemoteKind, { method, signal }: RequestInit, watch: ServerWatch): BodyWatch {
  const isStream = method !== 'POST';
  return {
    tooLong: () => watch.lost(`The server sent a message of more than ${sizeText(MCP_MESSAGE_MAX_BYTES)}.`),
    // The SDK opens the extra stream of today's servers again by itself.
    brokenOff: () => {
      if (!signal?.aborted && !(kind === 'http' && isStream)) watch.lost('The server broke off its answer.');
    },
    complete: () => {
      if (!signal?.aborted && kind === 'sse' && isStream) watch.lost('The server closed its stream.');
    },
  };
}
