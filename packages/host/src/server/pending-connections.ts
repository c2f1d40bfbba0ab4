/**
 * Connections that are not accepted yet. Past the limit the oldest is refused, because an honest peer is quick. Every
 * refused peer gets an HTTP answer. Closing a socket with unread input resets it, and a reset loses the answer; so the
 * rest of the input is read and dropped for a moment.
 */
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { LogFields, Logger } from '@atrium/core/util/logger.js';
import { SECURITY_HEADERS } from './security-headers.js';

/** How long a refused peer may take to close its side. */
export const LINGER_MS = 2_000;
/** Refused peers that have not closed their side yet. Past this number the oldest is cut off, answered or not. */
const LINGERING_MAX = 2_048;
const WINDOW_MS = 60_000;
const RETRY_AFTER_SECONDS = 5;
/** Log lines per window; further refusals are only counted. */
export const REFUSALS_LOGGED_MAX = 20;

/** What a server does with a request or an upgrade on a socket that was not refused. */
export interface RequestHandlers {
  answer(request: IncomingMessage, response: ServerResponse): void;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

export class PendingConnections {
  readonly #pending = new Set<Duplex>();
  readonly #refused = new Map<Duplex, NodeJS.Timeout>();
  /** Sockets whose request is being answered. */
  readonly #answering = new WeakSet<Duplex>();
  /** Sockets before the end of the TLS handshake, by the address of their peer. */
  readonly #handshakes = new Map<string, Socket>();
  /** Raw sockets below TLS: an HTTP answer would be noise there. */
  readonly #belowTls = new WeakSet<Duplex>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  /** Counts the sockets of a server from the first byte on. */
  serve(server: Server | TlsServer, { answer, upgrade }: RequestHandlers): void {
    if ('setSecureContext' in server) this.#countHandshakes(server);
    else server.on('connection', (socket: Duplex) => this.add(socket));
    server.on('request', (request, response) => {
      if (this.allowsRequest(request, response)) answer(request, response);
    });
    server.on('upgrade', (request, socket, head) => {
      socket.on('error', () => socket.destroy());
      if (this.hasRefused(socket)) socket.resume();
      else upgrade(request, socket, head);
    });
  }

  add(socket: Duplex): void {
    this.#pending.add(socket);
    socket.once('close', () => this.#left(socket));
    const [oldest] = this.#pending;
    if (oldest === undefined || this.#pending.size <= this.#max) return;
    if (this.#belowTls.has(oldest)) oldest.destroy();
    else this.refuse(oldest, 503, 'Too many connections wait to be accepted. Try again later.');
  }

  /** TLS makes a second socket on top of the first, and Node does not say which first socket that is. */
  #countHandshakes(server: TlsServer): void {
    server.on('connection', (socket: Socket) => {
      const peer = peerOf(socket);
      this.#handshakes.set(peer, socket);
      this.#belowTls.add(socket);
      socket.once('close', () => this.#handshakes.get(peer) === socket && this.#handshakes.delete(peer));
      this.add(socket);
    });
    server.on('secureConnection', (socket: Socket) => {
      const peer = peerOf(socket);
      const under = this.#handshakes.get(peer);
      this.#handshakes.delete(peer);
      if (under) this.#pending.delete(under);
      this.add(socket);
    });
  }

  /** The connection was accepted and no longer counts. */
  accepted(socket: Duplex): void {
    this.#pending.delete(socket);
  }

  /**
   * Whether to answer a plain request. Only one per socket at a time: no browser sends the next before it has the
   * answer, and pipelined requests cost far more to answer than to send.
   */
  allowsRequest({ socket }: IncomingMessage, response: ServerResponse): boolean {
    if (this.hasRefused(socket)) return false;
    if (this.#answering.has(socket)) {
      socket.destroy();
      return false;
    }
    this.#answering.add(socket);
    response.once('close', () => this.#answering.delete(socket));
    return true;
  }

  /** Whether the socket has its refusal already, so that a later upgrade on it gets no second answer. */
  hasRefused(socket: Duplex): boolean {
    return this.#refused.has(socket);
  }

  /** Answers and closes the socket, and destroys it if the peer does not close its side. */
  refuse(socket: Duplex, status: number, reason: string, retryAfterSeconds?: number): void {
    this.#pending.delete(socket);
    if (socket.destroyed || this.#refused.has(socket)) return;
    const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
    this.#refused.set(socket, timer);
    socket.on('error', () => socket.destroy());
    socket.end(refusal(status, reason, retryAfterSeconds));
    socket.resume();
    const [oldest] = this.#refused.keys();
    if (this.#refused.size > LINGERING_MAX) oldest?.destroy();
  }

  /** Cuts off every peer that was refused or is not accepted yet. */
  close(): void {
    for (const socket of [...this.#refused.keys(), ...this.#pending]) socket.destroy();
  }

  #left(socket: Duplex): void {
    clearTimeout(this.#refused.get(socket));
    this.#pending.delete(socket);
    this.#refused.delete(socket);
  }
}

function peerOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`;
}

function refusal(status: number, reason: string, retryAfterSeconds = RETRY_AFTER_SECONDS): string {
  const body = `${reason}\n`;
  const headers = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(status === 401 ? ['WWW-Authenticate: Bearer'] : []),
    ...(status === 503 || status === 429 ? [`Retry-After: ${retryAfterSeconds}`] : []),
    'Cache-Control: no-store',
    ...Object.entries(SECURITY_HEADERS).map(([name, value]) => `${name}: ${value}`),
  ];
  return `${headers.join('\r\n')}\r\n\r\n${body}`;
}

/**
 * Logs refused connections: a few lines per window, then only a count, so that a persistent program cannot fill the
 * disk.
 */
export class RefusalLog {
  readonly #logger: Logger;
  readonly #now: () => number;
  #windowSince = Number.NEGATIVE_INFINITY;
  #count = 0;

  constructor(logger: Logger, now: () => number = () => performance.now()) {
    this.#logger = logger;
    this.#now = now;
  }

  refused(fields: LogFields): void {
    const now = this.#now();
    if (now - this.#windowSince >= WINDOW_MS) this.#begin(now);
    this.#count += 1;
    if (this.#count <= REFUSALS_LOGGED_MAX) this.#logger.log('warn', 'connection refused', fields);
    if (this.#count === REFUSALS_LOGGED_MAX)
      this.#logger.log('warn', 'further refused connections of this minute are only counted');
  }

  #begin(now: number): void {
    const unlisted = this.#count - REFUSALS_LOGGED_MAX;
    if (unlisted > 0) this.#logger.log('warn', 'more connections were refused than are listed', { unlisted });
    this.#windowSince = now;
    this.#count = 0;
  }
}
