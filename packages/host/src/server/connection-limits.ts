/**
 * Connections that have not been let in. Past the limit the oldest has to go: an honest one is quick. Everybody who is
 * turned away is told so in HTTP. A socket that is closed while input waits in it is reset, and a reset takes the answer
 * with it; so what the peer still sends is read and thrown away for a moment.
 */

import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { LogFields, Logger } from '../core/util/logger.js';

/** How long a peer that was turned away may take to hang up. */
export const LINGER_MS = 2_000;
/** Peers that were turned away and have not hung up yet. Past this the oldest is cut off, answer or not. */
export const LINGERING_MAX = 2_048;

export class Door {
  readonly #waiting = new Set<Duplex>();
  readonly #leaving = new Map<Duplex, NodeJS.Timeout>();
  /** Those whose request is being answered. */
  readonly #asking = new WeakSet<Duplex>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  arrived(socket: Duplex): void {
    this.#waiting.add(socket);
    socket.once('close', () => this.#left(socket));
    const [oldest] = this.#waiting;
    if (oldest === undefined || this.#waiting.size <= this.#max) return;
    this.turnAway(oldest, 503, 'Too many connections wait to be let in. Try again later.');
  }

  /** Let in; it is no longer a stranger. */
  entered(socket: Duplex): void {
    this.#waiting.delete(socket);
  }

  /**
   * Whether a plain request is to be answered. One at a time: no browser sends the next before it has the answer, and
   * requests that pile up on one connection cost far more than they take to send.
   */
  mayAsk({ socket }: IncomingMessage, response: ServerResponse): boolean {
    if (this.hasTurnedAway(socket)) return false;
    if (this.#asking.has(socket)) {
      socket.destroy();
      return false;
    }
    this.#asking.add(socket);
    response.once('close', () => this.#asking.delete(socket));
    return true;
  }

  /** Whether a socket has its answer already: an upgrade that still arrives on it gets no other. */
  hasTurnedAway(socket: Duplex): boolean {
    return this.#leaving.has(socket);
  }

  /** Answers, hangs up, and cuts a peer off that does not hang up as well. */
  turnAway(socket: Duplex, status: number, reason: string): void {
    this.#waiting.delete(socket);
    if (socket.destroyed || this.#leaving.has(socket)) return;
    const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
    this.#leaving.set(socket, timer);
    socket.on('error', () => socket.destroy());
    socket.end(refusal(status, reason));
    socket.resume();
    const [oldest] = this.#leaving.keys();
    if (this.#leaving.size > LINGERING_MAX) oldest?.destroy();
  }

  /** Waits for nobody any more. */
  close(): void {
    for (const socket of this.#leaving.keys()) socket.destroy();
  }

  #left(socket: Duplex): void {
    clearTimeout(this.#leaving.get(socket));
    this.#waiting.delete(socket);
    this.#leaving.delete(socket);
  }
}

function refusal(status: number, reason: string): string {
  const body = `${reason}\n`;
  const headers = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(status === 401 ? ['WWW-Authenticate: Bearer'] : []),
    ...(status === 503 ? ['Retry-After: 5'] : []),
  ];
  return `${headers.join('\r\n')}\r\n\r\n${body}`;
}

/** Logs who was not let in. A program that tries again and again must not fill the disk: past a few lines it is counted. */

const WINDOW_MS = 60_000;
/** Lines in one window; what is beyond is only counted. */
export const REFUSALS_LOGGED_MAX = 20;

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
