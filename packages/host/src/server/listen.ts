/** Opens one port on every address of a host name. Does not know what the port serves. */

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { SecureContextOptions } from 'node:tls';
import { TLS_HANDSHAKE_TIMEOUT_MS } from './limits.js';

/** Attempts to find a port that is free on both address families. */
const ANY_PORT_TRIES = 10;
/** Time limit for a whole request head, against a peer that sends it byte by byte. */
export const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 10_000;
/** How often Node checks those time limits. */
const TIMEOUT_CHECK_MS = 1_000;
/** Connections that the operating system queues until the host accepts them; the system may have a lower limit. */
const BACKLOG = 2_048;
export const HEADERS_MAX_BYTES = 16 * 2 ** 10;

export interface ListenOptions {
  readonly host: string;
  /** 0 asks for any free port. */
  readonly port: number;
  readonly headersTimeoutMs?: number | undefined;
  /** Certificate and key. Absent: no encryption. */
  readonly tls?: SecureContextOptions | undefined;
  readonly tlsHandshakeTimeoutMs?: number | undefined;
}

export interface Listening {
  readonly port: number;
  readonly addresses: readonly string[];
  readonly servers: readonly (Server | TlsServer)[];
}

/** `localhost` means both loopback addresses, under one port: a client may try either. */
export async function listen(options: ListenOptions): Promise<Listening> {
  const tries = options.port === 0 ? ANY_PORT_TRIES : 1;
  for (let left = tries; ; left -= 1) {
    try {
      return await listenOnce(options);
    } catch (error) {
      if (left <= 1 || codeOf(error) !== 'EADDRINUSE') throw error;
    }
  }
}

async function listenOnce(options: ListenOptions): Promise<Listening> {
  if (options.host !== 'localhost') return listening([await bind(options, options.host, options.port)]);
  const v4 = await bind(options, '127.0.0.1', options.port);
  try {
    return listening([v4, await bind(options, '::1', addressOf(v4).port)]);
  } catch (error) {
    if (isFamilyMissing(error)) return listening([v4]);
    v4.close();
    throw error;
  }
}

async function bind(options: ListenOptions, address: string, port: number): Promise<Server | TlsServer> {
  const server = serverFor(options);
  server.listen({ host: address.replace(/^\[|\]$/g, ''), port, backlog: BACKLOG });
  await once(server, 'listening');
  return server;
}

function serverFor(options: ListenOptions): Server | TlsServer {
  const { headersTimeoutMs = HEADERS_TIMEOUT_MS, tls, tlsHandshakeTimeoutMs = TLS_HANDSHAKE_TIMEOUT_MS } = options;
  const limits = {
    headersTimeout: headersTimeoutMs,
    requestTimeout: Math.max(headersTimeoutMs, REQUEST_TIMEOUT_MS),
    connectionsCheckingInterval: Math.min(headersTimeoutMs, TIMEOUT_CHECK_MS),
    maxHeaderSize: HEADERS_MAX_BYTES,
  };
  return tls ? createTlsServer({ ...limits, ...tls, handshakeTimeout: tlsHandshakeTimeoutMs }) : createServer(limits);
}

function listening(servers: readonly (Server | TlsServer)[]): Listening {
  const bound = servers.map(addressOf);
  return { port: bound[0]?.port ?? 0, addresses: bound.map(({ address }) => address), servers };
}

function addressOf(server: Server | TlsServer): AddressInfo {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server is not listening on a port');
  return address;
}

/** On a machine without IPv6, IPv4 is enough. */
function isFamilyMissing(error: unknown): boolean {
  return ['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL'].includes(codeOf(error));
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? '';
}

/** New connections use the new certificate; existing ones continue with the old one. */
export function renewTls(servers: Listening['servers'], secrets: SecureContextOptions): void {
  for (const server of servers) if ('setSecureContext' in server) server.setSecureContext(secrets);
}

/** Lists every address of this machine. */
export function machineAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((list = []) => list.map(({ address }) => address));
}
