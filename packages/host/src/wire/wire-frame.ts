/** One message, ready to be sent to any number of clients: serialised once, framed once. */

/** FIN and the opcode of a text message: servers send whole, unmasked frames. */
const TEXT_MESSAGE = 0x81;
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
    this.#websocket ??= framed(Buffer.from(this.text, 'utf8'));
    return this.#websocket;
  }

  get bytes(): number {
    return this.websocket.length;
  }
}

function framed(payload: Buffer): Buffer {
  return Buffer.concat([header(payload.length), payload]);
}

function header(length: number): Buffer {
  if (length < LENGTH_16) return Buffer.from([TEXT_MESSAGE, length]);
  if (length <= 0xffff) return Buffer.from([TEXT_MESSAGE, LENGTH_16, length >> 8, length & 0xff]);
  const long = Buffer.alloc(10);
  long[0] = TEXT_MESSAGE;
  long[1] = LENGTH_64;
  long.writeBigUInt64BE(BigInt(length), 2);
  return long;
}
