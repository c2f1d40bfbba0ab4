/** One message, ready to be sent to any number of clients: serialised once, framed once. */
import type { MessagePart } from './transport.js';

/** The first byte of a WebSocket frame, which servers send unmasked: is it the last of its message, is it the first. */
const LAST = 0x80;
const FIRST_OF_TEXT = 0x01;
const LENGTH_16 = 126;
const LENGTH_64 = 127;

export class WireFrame {
  /** The message, or how to write it: one that may yet be merged is not written before it is sent. */
  #text: string | (() => string);
  #websocket: Buffer | undefined;

  constructor(text: string | (() => string)) {
    this.#text = text;
  }

  static of(message: object): WireFrame {
    return new WireFrame(JSON.stringify(message));
  }

  get text(): string {
    if (typeof this.#text !== 'string') this.#text = this.#text();
    return this.#text;
  }

  /** The message with its WebSocket header. The very same bytes go to every socket. */
  get websocket(): Buffer {
    this.#websocket ??= framed({ text: this.text, isFirst: true, isLast: true });
    return this.#websocket;
  }

  get bytes(): number {
    return this.websocket.length;
  }
}

/** Header and payload in one piece, without copying the payload twice. */
export function framed({ text, isFirst, isLast }: MessagePart): Buffer {
  const length = Buffer.byteLength(text);
  const start = length < LENGTH_16 ? 2 : length <= 0xffff ? 4 : 10;
  const frame = Buffer.allocUnsafe(start + length);
  frame[0] = (isLast ? LAST : 0) | (isFirst ? FIRST_OF_TEXT : 0);
  writeLength(frame, length);
  frame.write(text, start);
  return frame;
}

function writeLength(frame: Buffer, length: number): void {
  if (length < LENGTH_16) {
    frame[1] = length;
  } else if (length <= 0xffff) {
    frame[1] = LENGTH_16;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = LENGTH_64;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
}
