/**
 * Where a request comes from: the peer of the socket, or the peer that a trusted proxy names. Exactly one hop is
 * believed: the last entry of each header, which the proxy itself wrote. Everything before it came from the client.
 */
import type { IncomingMessage } from 'node:http';
import { isLoopback } from '@atrium/core/util/addresses.js';
import { type Networks, plainAddress } from './peer-address.js';

export interface RequestSource {
  /** In the form of `plainAddress`; `unknown` when the socket is gone already. */
  readonly address: string;
  readonly scheme: 'http' | 'https';
  /** Every value of the Host header that the client sent. */
  readonly host: readonly string[];
  /** Whether a trusted proxy passed the request on; the port in `host` is then the proxy's. */
  readonly isProxied: boolean;
  /** Whether the request came through an open tunnel, so that `host` is one of ours. */
  readonly isTunnelled?: boolean;
  /** The port of the cluster host that passed the request on, after it accepted `host` as one of its names. */
  readonly relayedPort?: number;
}

/** What another host of the cluster found out about a client that it passes on. */
export interface RelayedSource extends RequestSource {
  readonly relayedPort: number;
}

/** A trusted proxy sent headers that cannot be understood. Guessing would be worse than refusing. */
export interface UnclearSource {
  readonly problem: string;
}

type Headers = Readonly<Record<string, readonly string[] | undefined>>;

/** The claims of a proxy about one hop. */
interface Hop {
  readonly address?: string | undefined;
  readonly scheme?: string | undefined;
  readonly host?: string | undefined;
}

const X_HEADERS = ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host'] as const;
const BOTH =
  'The proxy sends both Forwarded and X-Forwarded headers, and a client may have written one of them. Have it remove one.';
const MALFORMED = 'The forwarded headers of the proxy cannot be understood.';

export function sourceOf(request: IncomingMessage, proxies: Networks | undefined): RequestSource | UnclearSource {
  const { socket, headersDistinct } = request;
  const address = plainAddress(socket.remoteAddress ?? '') ?? 'unknown';
  const scheme = 'encrypted' in socket && socket.encrypted === true ? 'https' : 'http';
  const direct: RequestSource = { address, scheme, host: headersDistinct.host ?? [], isProxied: false };
  if (!proxies?.has(address)) return direct;
  return throughProxy(direct, headersDistinct);
}

/** Whether the request came straight from a program on this machine. An address that a proxy names does not count. */
export function isLocal({ address, isProxied }: RequestSource): boolean {
  return !isProxied && isLoopback(address);
}

function throughProxy(direct: RequestSource, headers: Headers): RequestSource | UnclearSource {
  const hasX = X_HEADERS.some((name) => headers[name] !== undefined);
  const standard = headers.forwarded;
  if (hasX && standard !== undefined) return { problem: BOTH };
  // A program on the proxy's machine may connect directly; its own address counts.
  if (!hasX && standard === undefined) return direct;
  const hop = standard === undefined ? xHop(headers) : standardHop(standard.join(','));
  return (hop && behind(direct, hop)) ?? { problem: MALFORMED };
}

function behind(direct: RequestSource, { address, scheme, host }: Hop): RequestSource | undefined {
  const from = address === undefined ? direct.address : nodeAddress(address, direct.address);
  const by = scheme === undefined ? direct.scheme : schemeOf(scheme);
  if (from === undefined || by === undefined || host === '') return undefined;
  return { address: from, scheme: by, host: host === undefined ? direct.host : [host], isProxied: true };
}

function schemeOf(text: string): 'http' | 'https' | undefined {
  const scheme = text.toLowerCase();
  if (scheme === 'https' || scheme === 'wss') return 'https';
  return scheme === 'http' || scheme === 'ws' ? 'http' : undefined;
}

/** An address, perhaps with a port. A proxy may hide it (RFC 7239, 6.3); the proxy's own address counts then. */
function nodeAddress(text: string, proxy: string): string | undefined {
  if (/^(unknown|_[\w.-]+)(:[\w.-]+)?$/i.test(text)) return proxy;
  const [, bracketed, v4] = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d{1,5})?$/.exec(text) ?? [];
  return plainAddress(bracketed ?? v4 ?? text);
}

function xHop(headers: Headers): Hop {
  const [address, scheme, host] = X_HEADERS.map((name) => headers[name]?.join(',').split(',').at(-1)?.trim());
  return { address, scheme, host };
}

const PAIR = /\s*([\w!#$%&'*+.^`|~-]+)=(?:"((?:[^"\\]|\\.)*)"|([\w!#$%&'*+.^`|~:[\]-]+))\s*/y;

/** The last element of a `Forwarded` header; undefined if any element is malformed. */
function standardHop(text: string): Hop | undefined {
  let hop: Record<string, string> = {};
  for (let at = 0; ; ) {
    PAIR.lastIndex = at;
    const [whole, name = '', quoted, token = ''] = PAIR.exec(text) ?? [];
    const key = name.toLowerCase();
    // A repeated member is ambiguous.
    if (whole === undefined || Object.hasOwn(hop, key)) return undefined;
    hop[key] = quoted === undefined ? token : quoted.replace(/\\(.)/gs, '$1');
    at += whole.length;
    if (at === text.length) return { address: hop.for, scheme: hop.proto, host: hop.host };
    if (text[at] === ',') hop = {};
    else if (text[at] !== ';') return undefined;
    at += 1;
  }
}
