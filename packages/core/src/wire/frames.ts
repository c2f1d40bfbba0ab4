/** Messages to clients, serialised once and framed once, however many clients get them. */
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

/** Lists of frames that are longer than this together are not joined: copying them would cost more than it saves. */
const JOINED_MAX_BYTES = 64 * 2 ** 10;

/** Lists are shared between connections, and so is what they are together. */
const JOINED = new WeakMap<readonly WireFrame[], Buffer>();

/** All frames of a list in one piece, for one write; undefined when they are too long for that. */
export function joined(frames: readonly WireFrame[]): Buffer | undefined {
  const known = JOINED.get(frames);
  if (known) return known;
  let bytes = 0;
  for (const frame of frames) bytes += frame.bytes;
  if (bytes > JOINED_MAX_BYTES) return undefined;
  const together = Buffer.concat(
    frames.map(({ websocket }) => websocket),
    bytes,
  );
  JOINED.set(frames, together);
  return together;
}

/** Header and text in one piece, without copying the text twice. The bytes of a part are to be written behind it. */
export function framed({ text, bytes, isFirst, isLast }: MessagePart): Buffer {
  const length = Buffer.byteLength(text);
  const payload = length + (bytes?.length ?? 0);
  const start = headerBytes(payload);
  const frame = Buffer.allocUnsafe(start + length);
  frame[0] = (isLast ? LAST : 0) | (isFirst ? FIRST_OF_TEXT : 0);
  writeLength(frame, payload);
  frame.write(text, start);
  return frame;
}

/** The same for a payload that is no text, with further bits in the first byte. */
export function frameOf(
  payload: Uint8Array,
  { isFirst, isLast, bits }: Pick<MessagePart, 'isFirst' | 'isLast'> & { readonly bits: number },
): Buffer {
  const start = headerBytes(payload.length);
  const frame = Buffer.allocUnsafe(start + payload.length);
  frame[0] = (isLast ? LAST : 0) | (isFirst ? FIRST_OF_TEXT : 0) | bits;
  writeLength(frame, payload.length);
  frame.set(payload, start);
  return frame;
}

function headerBytes(length: number): number {
  return length < LENGTH_16 ? 2 : length <= 0xffff ? 4 : 10;
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

/** Text that is appended to one part of one turn, or to the output of one terminal. */
export interface AppendedText {
  /** Equal for deltas that may be joined: same channel, turn, part and kind, same wire. */
  readonly key: string;
  readonly content: string;
  /** Longer text waits as it is. Output comes in large pieces: joining them costs more and more, and saves nothing. */
  readonly maxCharacters?: number;
  /** The message again, with other text. */
  readonly withContent: (content: string) => object;
  /** The text that it was appended to; undefined when that is not known, or not at hand any more. */
  readonly growth?: () => Growth | undefined;
}

/** A text that a state holds, before something was appended to it and after. */
export interface Growth {
  readonly before: string;
  readonly after: string;
}

/**
 * Text that waits: the end of a text from `start` on. As long as the text is one that the state of its channel holds anyway,
 * waiting costs nothing, however much of it waits for however many clients.
 */
interface Tail {
  readonly text: string;
  readonly start: number;
}

export class Outgoing extends WireFrame {
  readonly #tail: Tail | undefined;
  readonly #growth: Growth | undefined;

  constructor(
    text: string | (() => string),
    /** About how much memory it takes; exact bytes would mean encoding a message that may yet be merged. */
    readonly size: number,
    readonly delta?: Omit<AppendedText, 'content'> | undefined,
    tail?: Tail,
    growth?: Growth,
  ) {
    super(text);
    this.#tail = tail;
    this.#growth = growth;
  }

  /**
   * The message as it waits for one client. To be called while the states around its action are at hand. The message itself
   * is shared, and may be kept for much longer: it does not keep the text of a state.
   */
  waiting(): Outgoing {
    if (!this.delta) return this;
    const growth = this.delta.growth?.();
    const tail = growth ? { text: growth.after, start: growth.before.length } : this.#tail;
    return new Outgoing(() => this.text, this.size, this.delta, tail, growth);
  }

  /** One that waits is written, because nothing is joined to it any more: from now on it keeps its own text only. */
  settled(): Outgoing {
    return this.delta ? new Outgoing(this.text, this.size) : this;
  }

  /** The text of a delta. */
  get tail(): Tail {
    return this.#tail ?? NO_TEXT;
  }

  /** What the text was appended to, if that is known. */
  get before(): string | undefined {
    return this.#growth?.before;
  }
}

const NO_TEXT: Tail = { text: '', start: 0 };

export function outgoing(message: object, delta?: AppendedText): Outgoing {
  return outgoingDelta(JSON.stringify(message), delta);
}

/** Text that is already a message, and what it says when it is a delta. */
export function outgoingDelta(text: string, delta: AppendedText | undefined): Outgoing {
  return new Outgoing(text, text.length, delta, delta && { text: delta.content, start: 0 });
}

/** A message without an answer. */
export function outgoingNotification({ method, params }: { method: string; params: object }): Outgoing {
  return outgoing({ jsonrpc: '2.0', method, params });
}

/** Text that is already a message. */
export function outgoingText(text: string): Outgoing {
  return new Outgoing(text, text.length);
}

/** Two messages as one, or undefined when they cannot be joined. The number of the later one stands. */
export function merged(first: Outgoing, second: Outgoing): Outgoing | undefined {
  if (!first.delta || !second.delta || first.delta.key !== second.delta.key) return undefined;
  const { delta } = second;
  const { maxCharacters = Number.POSITIVE_INFINITY } = delta;
  const more = lengthOf(second.tail);
  if (lengthOf(first.tail) + more > maxCharacters) return undefined;
  const tail = joinedTail(first, second);
  const write = () => JSON.stringify(delta.withContent(textOf(tail)));
  return new Outgoing(write, first.size + more, delta, tail);
}

/** The very same text is compared at once, however long it is. Text that is not of the same state is copied. */
function joinedTail(first: Outgoing, second: Outgoing): Tail {
  if (second.before === first.tail.text) return { text: second.tail.text, start: first.tail.start };
  return { text: grown(textOf(first.tail), textOf(second.tail)), start: 0 };
}

function textOf({ text, start }: Tail): string {
  return start === 0 ? text : text.slice(start);
}

function lengthOf({ text, start }: Tail): number {
  return text.length - start;
}

/** How often, in characters, text that is growing is made one piece. */
const PIECE_CHARACTERS = 8 * 2 ** 10;

/** A string that grew bit by bit is a tree of its bits, several times its size. Looking into it makes it one piece. */
function grown(text: string, more: string): string {
  const whole = text + more;
  const isDue = Math.floor(whole.length / PIECE_CHARACTERS) > Math.floor(text.length / PIECE_CHARACTERS);
  if (isDue) whole.charCodeAt(0);
  return whole;
}
