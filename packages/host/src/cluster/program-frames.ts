/**
 * What two hosts say to each other about a program that one runs for the other: frames with a type, on a connection of
 * the link. Each stream of the program has a window of bytes under way, so that neither side holds more than that for
 * a reader that is slow, and what is said about the program never waits behind its output.
 */
import type { Duplex } from 'node:stream';
import { PROGRAM_PING_MS, PROGRAM_SILENT_MS } from './limits.js';

/** Higher when the frames change; hosts of another level do not work for each other. */
export const WORK_LEVEL = 1;

export const FrameType = {
  ping: 0,
  start: 1,
  started: 2,
  refused: 3,
  input: 4,
  inputEnd: 5,
  output: 6,
  errors: 7,
  outputEnd: 8,
  errorsEnd: 9,
  /** So many bytes of a stream have been taken. */
  taken: 10,
  exit: 11,
  end: 12,
  ended: 13,
  reach: 14,
  reached: 15,
} as const;

export type FrameType = (typeof FrameType)[keyof typeof FrameType];
/** The streams of a program, by the type of the frames that carry them. */
export type StreamType = typeof FrameType.input | typeof FrameType.output | typeof FrameType.errors;

const HEAD_BYTES = 5;
/** One frame. A stream is sent in pieces of `PIECE_BYTES`; what a program is started with may be larger. */
const FRAME_MAX_BYTES = 4 * 2 ** 20;
const PIECE_BYTES = 64 * 2 ** 10;
/** Bytes of one stream that are sent and not taken yet. */
export const WINDOW_BYTES = 256 * 2 ** 10;

export interface FrameStreamOptions {
  readonly stream: Duplex;
  received(type: FrameType, payload: Buffer): void;
  /** Called once, when nothing can be sent or received any more. */
  closed(): void;
}

/** Frames in both directions. A side that has said nothing for a while counts as gone. */
export class FrameStream {
  readonly #options: FrameStreamOptions;
  readonly #pinging: NodeJS.Timeout;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #heardAt = performance.now();
  #lookedAt = performance.now();
  #isClosed = false;

  constructor(options: FrameStreamOptions) {
    this.#options = options;
    const { stream } = options;
    stream.on('data', (chunk: Buffer) => this.#take(chunk));
    stream.on('error', () => this.close());
    stream.on('end', () => this.close());
    stream.on('close', () => this.close());
    this.#pinging = setInterval(() => this.#look(), PROGRAM_PING_MS).unref();
    if (stream.destroyed) queueMicrotask(() => this.close());
  }

  send(type: FrameType, payload: Buffer = EMPTY): void {
    if (this.#isClosed) return;
    const head = Buffer.alloc(HEAD_BYTES);
    head.writeUInt8(type);
    head.writeUInt32BE(payload.length, 1);
    const { stream } = this.#options;
    stream.write(payload.length === 0 ? head : Buffer.concat([head, payload]));
  }

  tell(type: FrameType, message: object): void {
    this.send(type, Buffer.from(JSON.stringify(message)));
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#pinging);
    this.#options.stream.destroy();
    this.#options.closed();
  }

  /** A process that was paused itself has heard nothing, and cannot blame the other side for it. */
  #look(): void {
    const now = performance.now();
    const wasPaused = now - this.#lookedAt > PROGRAM_SILENT_MS / 2;
    this.#lookedAt = now;
    if (wasPaused) this.#heardAt = now;
    if (now - this.#heardAt > PROGRAM_SILENT_MS) return this.close();
    this.send(FrameType.ping);
  }

  #take(chunk: Buffer): void {
    this.#heardAt = performance.now();
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    while (!this.#isClosed && this.#bytes >= HEAD_BYTES) {
      const head = this.#joined();
      const size = head.readUInt32BE(1);
      if (size > FRAME_MAX_BYTES) return this.close();
      if (this.#bytes < HEAD_BYTES + size) return;
      const type = head.readUInt8() as FrameType;
      this.#chunks = [head.subarray(HEAD_BYTES + size)];
      this.#bytes -= HEAD_BYTES + size;
      if (type === FrameType.ping) continue;
      try {
        this.#options.received(type, head.subarray(HEAD_BYTES, HEAD_BYTES + size));
      } catch {
        return this.close();
      }
    }
  }

  #joined(): Buffer {
    const [only] = this.#chunks;
    if (only && this.#chunks.length === 1) return only;
    const joined = Buffer.concat(this.#chunks);
    this.#chunks = [joined];
    return joined;
  }
}

const EMPTY = Buffer.alloc(0);

export function messageIn(payload: Buffer): Readonly<Record<string, unknown>> {
  const message: unknown = JSON.parse(payload.toString());
  return typeof message === 'object' && message !== null ? { ...message } : {};
}

/** Sends one stream of a program, no faster than the other side takes it. */
export class StreamSender {
  readonly #frames: FrameStream;
  readonly #type: StreamType;
  #underWay = 0;
  #waiting: { rest: Buffer; readonly sent: () => void }[] = [];
  #whenEmpty: (() => void) | undefined;

  constructor(frames: FrameStream, type: StreamType) {
    this.#frames = frames;
    this.#type = type;
  }

  /** True when what was given is not sent yet. */
  get isFull(): boolean {
    return this.#waiting.length > 0;
  }

  send(chunk: Buffer, sent: () => void = () => {}): void {
    this.#waiting.push({ rest: chunk, sent });
    this.#go();
  }

  taken(bytes: number): void {
    this.#underWay -= bytes;
    this.#go();
  }

  /** Calls back once everything that was given is sent: the end of a stream must not overtake its last piece. */
  whenEmpty(then: () => void): void {
    if (this.#waiting.length === 0) return then();
    this.#whenEmpty = then;
  }

  #go(): void {
    for (let next = this.#waiting[0]; next && this.#underWay < WINDOW_BYTES; next = this.#waiting[0]) {
      const piece = next.rest.subarray(0, Math.min(PIECE_BYTES, WINDOW_BYTES - this.#underWay));
      next.rest = next.rest.subarray(piece.length);
      if (piece.length > 0) this.#frames.send(this.#type, piece);
      this.#underWay += piece.length;
      if (next.rest.length > 0) continue;
      this.#waiting.shift();
      next.sent();
    }
    if (this.#waiting.length > 0) return;
    this.#whenEmpty?.();
    this.#whenEmpty = undefined;
  }
}

/** Tells the other side how much of a stream has been taken. */
export function tellTaken(frames: FrameStream, type: StreamType, bytes: number): void {
  if (bytes > 0) frames.tell(FrameType.taken, { type, bytes });
}
