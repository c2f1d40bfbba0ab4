/** The link to a server at an address: streamable HTTP, or the older pair of a stream and posts. */
import { connect } from 'node:net';
import type { Clock } from '@atrium/core/util/clock.js';
import { EventGauge } from '@atrium/core/util/streams.js';
import { shorten, sizeText } from '@atrium/core/util/text.js';
import { within } from '@atrium/core/util/waiting.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { McpRemoteConfig } from '../formats/mcp-declarations.js';
import { protectedResource, type Tokens } from './authorization.js';
import {
  MCP_GOODBYE_MS,
  MCP_MESSAGE_MAX_BYTES,
  MCP_REACH_TIMEOUT_MS,
  MCP_RESOURCE_MAX_ITEMS,
  MCP_RESOURCE_TIMEOUT_MS,
  MCP_TEXT_MAX_CHARACTERS,
} from './limits.js';
import { type HttpSdk, type Link, type LinkEnd, lost, type McpAuthRequired, RefusedError } from './mcp-link.js';

interface HttpPlace {
  readonly clock: Clock;
  readonly tokens: Tokens;
}

export class HttpLink implements Link {
  readonly transport: Transport;
  readonly ended: Promise<LinkEnd>;
  readonly #sdk: HttpSdk;
  readonly #url: URL;
  readonly #place: HttpPlace;
  readonly #closing = new AbortController();
  readonly #goodbye: () => Promise<void>;
  #resolve: (end: LinkEnd | Promise<LinkEnd>) => void = () => {};
  #isOver = false;

  constructor(sdk: HttpSdk, config: McpRemoteConfig, kind: RemoteKind, place: HttpPlace) {
    this.#sdk = sdk;
    this.#url = new URL(config.url);
    this.#place = place;
    this.ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    const watch = {
      refused: (refusal: Refusal) => this.#refused(refusal),
      lost: (message: string) => this.#end(() => lost(message)),
    };
    const options = { fetch: serverFetch(config, kind, { tokens: place.tokens, watch }) };
    if (kind === 'sse') {
      this.transport = new sdk.SSEClientTransport(this.#url, options);
      this.#goodbye = async () => {};
    } else {
      const transport = new sdk.StreamableHTTPClientTransport(this.#url, options);
      this.transport = transport;
      this.#goodbye = () => transport.terminateSession();
    }
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const wasOver = this.#isOver;
    this.#isOver = true;
    // A server that this does not reach forgets the session by itself.
    if (!wasOver) await within(this.#place.clock, MCP_GOODBYE_MS, this.#goodbye(), () => {}).catch(() => {});
    await this.transport.close();
    if (wasOver) await this.ended;
    else this.#resolve(lost('The connection was closed.'));
  }

  lapse(reason: McpAuthRequired): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#resolve(reason);
  }

  #end(reason: () => LinkEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#resolve(reason());
    // Not at once, because the SDK is still reading the answer that ends the connection.
    queueMicrotask(() => void this.transport.close());
  }

  /** Other requests are under way and may succeed: they get their answers, and the owner closes the link afterwards. */
  #refused(refusal: Refusal): RefusedError {
    const { scope, error } = this.#sdk.extractWWWAuthenticateParams(refusal.response);
    // The token is valid, but has too few rights for this one request.
    const isOfOneRequest = error === 'insufficient_scope' && refusal.token !== undefined;
    if (!isOfOneRequest && refusal.token !== undefined) this.#place.tokens.drop(refusal.token);
    const reason = isOfOneRequest ? 'insufficientScope' : refusal.token === undefined ? 'required' : 'expired';
    const requirement = this.#authRequired(refusal, reason, scope);
    if (!isOfOneRequest && !this.#isOver) {
      this.#isOver = true;
      this.#resolve(requirement);
    }
    return new RefusedError(requirement);
  }

  async #authRequired(
    { response, token }: Refusal,
    reason: McpAuthRequired['reason'],
    scope: string | undefined,
  ): Promise<McpAuthRequired> {
    const { resourceMetadataUrl } = this.#sdk.extractWWWAuthenticateParams(response);
    const granted = token === undefined ? [] : this.#place.tokens.scopes;
    const timeout = new AbortController();
    const disarm = this.#place.clock.after(MCP_RESOURCE_TIMEOUT_MS, () => timeout.abort());
    const signal = AbortSignal.any([timeout.signal, this.#closing.signal]);
    const resource = await protectedResource(this.#url, resourceMetadataUrl, signal).finally(disarm);
    return {
      kind: 'authRequired',
      resource,
      reason,
      ...(scope && { requiredScopes: scopesIn(scope), message: scopeMessage(scope, granted) }),
    };
  }
}

function scopesIn(text: string): string[] {
  return shorten(text, MCP_TEXT_MAX_CHARACTERS).split(/\s+/).filter(Boolean).slice(0, MCP_RESOURCE_MAX_ITEMS);
}

function scopeMessage(needed: string, granted: readonly string[]): string {
  const present = granted.length > 0 ? `; the token grants: ${granted.join(' ')}` : '';
  return shorten(`Needed scopes: ${needed}${present}`, MCP_TEXT_MAX_CHARACTERS);
}

interface ServerWatch {
  /** The server answered 401 or 403. Returns the error of the request. */
  refused(refusal: Refusal): RefusedError;
  /** The connection is unusable. */
  lost(message: string): void;
}

interface Refusal {
  readonly response: Response;
  /** The token that it refused. */
  readonly token: string | undefined;
}

/** With `http` the server answers in the response; with `sse`, on a stream that must stay open. */
export type RemoteKind = McpRemoteConfig['transport'];
type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * Sends requests to a remote server. Its headers and token never reach another origin. All requests pass through here,
 * so the end of the connection is detected here.
 */
export function serverFetch(
  { url, headers }: McpRemoteConfig,
  kind: RemoteKind,
  { tokens, watch }: { readonly tokens: Tokens; readonly watch: ServerWatch },
): Fetch {
  const { origin } = new URL(url);
  return async (address, init = {}) => {
    const target = new URL(address);
    if (target.origin !== origin) {
      throw new Error(`The server at ${origin} redirects to ${target.origin}. If that is right, change its address.`);
    }
    const token = tokens.current;
    const sent = headersFor(init.headers, headers, token);
    const response = await send(target, { ...init, headers: sent, redirect: 'manual' }, watch);
    // With `http`, the stream besides the answers is optional, and a healthy server may refuse it.
    const isExtra = kind === 'http' && init.method === 'GET';
    const { status } = response;
    if (!isExtra && (status === 401 || status === 403)) {
      const refused = watch.refused({ response, token });
      await response.body?.cancel().catch(() => {});
      throw refused;
    }
    if (status === 404 && sent.has('mcp-session-id')) watch.lost('The server has forgotten the session.');
    return withBoundedBody(response, bodyWatch(kind, init, watch));
  };
}

/** Headers of the protocol come first, then the token, then headers of the declaration. */
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
      // The system's own error would reveal the value.
      throw new Error(`The header ${JSON.stringify(name)} of the server's declaration cannot be sent; check it.`);
    }
  }
  return headers;
}

/**
 * Resolves when the server's machine accepts a connection. A request alone would wait for the system's own time limit,
 * which is far too long to report an unreachable server.
 */
export async function reach({ origin, hostname, port, protocol }: URL, clock: Clock): Promise<void> {
  // Requests then go to a proxy, and the server itself may be unreachable from here.
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

/** Node says "fetch failed", and hides the reason in the cause. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  return cause.message || ('code' in cause ? String(cause.code) : cause.name);
}

function bodyWatch(kind: RemoteKind, { method, signal }: RequestInit, watch: ServerWatch): BodyWatch {
  const isStream = method !== 'POST';
  return {
    tooLong: () => watch.lost(`The server sent a message of more than ${sizeText(MCP_MESSAGE_MAX_BYTES)}.`),
    // The SDK reopens the optional stream by itself.
    brokenOff: () => {
      if (!signal?.aborted && !(kind === 'http' && isStream)) watch.lost('The server broke off its answer.');
    },
    complete: () => {
      if (!signal?.aborted && kind === 'sse' && isStream) watch.lost('The server closed its stream.');
    },
  };
}

interface BodyWatch {
  tooLong(): void;
  brokenOff(): void;
  /** The server closed the stream normally. */
  complete(): void;
}

/** Limits the size of an answer, or of each event of a stream, and reports when the body is cut off. */
function withBoundedBody(response: Response, watch: BodyWatch): Response {
  const { body, status, statusText, headers } = response;
  if (!body) return response;
  return new Response(ReadableStream.from(bounded(body, gaugeFor(headers), watch)), { status, statusText, headers });
}

type Gauge = (chunk: Uint8Array) => number;

function gaugeFor(headers: Headers): Gauge {
  if (headers.get('content-type')?.toLowerCase().startsWith('text/event-stream')) {
    const events = new EventGauge();
    return (chunk) => events.push(chunk);
  }
  let bytes = 0;
  return (chunk) => {
    bytes += chunk.length;
    return bytes;
  };
}

async function* bounded(body: AsyncIterable<Uint8Array>, gauge: Gauge, watch: BodyWatch): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) {
      if (gauge(chunk) > MCP_MESSAGE_MAX_BYTES) {
        watch.tooLong();
        throw new Error('The server sent a message that is too long.');
      }
      yield chunk;
    }
  } catch (error) {
    watch.brokenOff();
    throw error;
  }
  watch.complete();
}
