/**
 * The WebSocket of a client that connects to one host and is served by another. Bytes pass unchanged in both
 * directions, each side no faster than the other reads. Only the ends of frames are tracked, so that a client whose
 * host is gone can still be told to connect again.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { RELAY_LINGER_MS } from './limits.js';

/** From the registry of RFC 6455: the server restarts, connect again. */
const SERVICE_RESTART = 1012;
const HOST_GONE = 'the active host is gone; connect again';
const HEAD_MAX_BYTES = 16 * 2 ** 10;
const HEAD_END = '\r\n\r\n';

export interface RelayedSocketOptions {
  readonly client: Duplex;
  /** The connection to the active host. */
  readonly stream: Duplex;
  /** How long the client may read nothing. */
  readonly stallMs: number;
  /** The active host has accepted the client. */
  accepted(): void;
}

export class RelayedSocket {
  /** Resolves when the client is gone. */
  readonly ended: Promise<void>;
  readonly #client: Duplex;
  readonly #stream: Duplex;
  readonly #stallMs: number;
  readonly #accepted: () => void;
  readonly #frames = new FrameEnds();
  /** The part of the answer's head received so far; undefined once the head is complete. */
  #head: string | undefined = '';
  #isAccepted = false;
  #isOver = false;
  /** Runs while the client does not read. */
  #stall: NodeJS.Timeout | undefined;

  constructor({ client, stream, stallMs, accepted }: RelayedSocketOptions) {
    this.#client = client;
    this.#stream = stream;
    this.#stallMs = stallMs;
    this.#accepted = accepted;
    this.ended = new Promise((resolve) => {
      client.once('close', () => {
        clearTimeout(this.#stall);
        stream.destroy();
        resolve();
      });
    });
    stream.on('data', (chunk: Buffer) => this.#received(chunk));
    stream.once('close', () => this.sendAway());
    client.on('drain', () => this.#drained());
    client.on('error', () => client.destroy());
    client.pipe(stream);
    if (client.destroyed) stream.destroy();
  }

  /**
   * Between two frames the client is told why. Within a frame it can only be cut off; it will reconnect in either case.
   */
  sendAway(reason = HOST_GONE): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stream.destroy();
    const client = this.#client;
    client.unpipe();
    const mayTell = this.#isAccepted && this.#frames.isBetween && !this.#frames.hasClosed;
    client.end(mayTell ? closeFrame(SERVICE_RESTART, reason) : undefined);
    // Later input is dropped, so that the client still receives the close frame.
    client.resume();
    const timer = setTimeout(() => client.destroy(), RELAY_LINGER_MS);
    void this.ended.then(() => clearTimeout(timer));
  }

  #received(chunk: Buffer): void {
    if (this.#isOver) return;
    const frames = this.#head === undefined ? chunk : this.#behindHead(chunk);
    if (this.#isAccepted) this.#frames.passed(frames);
    if (this.#client.write(chunk)) return;
    this.#stream.pause();
    this.#stall ??= setTimeout(() => this.#client.destroy(), this.#stallMs);
  }

  #drained(): void {
    clearTimeout(this.#stall);
    this.#stall = undefined;
    this.#stream.resume();
  }

  /** The part of a chunk after the head of the answer. */
  #behindHead(chunk: Buffer): Buffer {
    const before = this.#head ?? '';
    const head = before + chunk.toString('latin1');
    const end = head.indexOf(HEAD_END);
    if (end < 0 && head.length > HEAD_MAX_BYTES) this.#stream.destroy();
    this.#head = end < 0 ? head : undefined;
    if (end < 0) return Buffer.alloc(0);
    this.#isAccepted = /^HTTP\/1\.1 101 /.test(head);
    if (this.#isAccepted) this.#accepted();
    return chunk.subarray(end + HEAD_END.length - before.length);
  }
}

/** Finds where frames of a server end. They are not masked, and nothing else about them matters here. */
export class FrameEnds {
  /** A head is two bytes, and up to eight more for a long frame. */
  readonly #head = Buffer.alloc(10);
  #headBytes = 0;
  #left = 0;
  #hasClosed = false;

  get isBetween(): boolean {
    return this.#headBytes === 0 && this.#left === 0;
  }

  /** Whether the server itself has sent a close frame. */
  get hasClosed(): boolean {
    return this.#hasClosed;
  }

  passed(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) {
      if (this.#left > 0) {
        const bytes = Math.min(this.#left, chunk.length - at);
        this.#left -= bytes;
        at += bytes;
      } else {
        this.#head[this.#headBytes++] = chunk[at++] ?? 0;
        this.#endHead();
      }
    }
  }

  #endHead(): void {
    const [first = 0, second = 0] = this.#head;
    const size = second & 0x7f;
    const needed = size === 127 ? 10 : size === 126 ? 4 : 2;
    if (this.#headBytes < 2 || this.#headBytes < needed) return;
    this.#headBytes = 0;
    this.#left =
      size === 127 ? Number(this.#head.readBigUInt64BE(2)) : size === 126 ? this.#head.readUInt16BE(2) : size;
    if ((first & 0x0f) === 8) this.#hasClosed = true;
  }
}

function closeFrame(code: number, reason: string): Buffer {
  const frame = Buffer.alloc(4 + Buffer.byteLength(reason));
  frame[0] = 0x88;
  frame[1] = frame.length - 2;
  frame.writeUInt16BE(code, 2);
  frame.write(reason, 4);
  return frame;
}

/** The head of a request as it was received. */
export function requestHead({ method, url, rawHeaders }: IncomingMessage): string {
  const headers = rawHeaders.map((text, at) => (at % 2 === 0 ? `${text}: ` : `${text}\r\n`));
  return `${method} ${url} HTTP/1.1\r\n${headers.join('')}\r\n`;
}
