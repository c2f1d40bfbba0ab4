/** Messages to clients: each is serialised once and framed once, for all clients that get it. */
import type { MessagePart } from './transport.js';

/**
 * Bits in the first byte of a WebSocket frame, which servers send unmasked. `LAST` marks the last frame of a message.
 */
const LAST = 0x80;
const FIRST_OF_TEXT = 0x01;
const LENGTH_16 = 126;
const LENGTH_64 = 127;

export class WireFrame {
  /** The message, or a function that writes it: a message that may still be merged is written only when it is sent. */
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

  /** The message with its WebSocket header. Every socket gets the very same bytes. */
  get websocket(): Buffer {
    this.#websocket ??= framed({ text: this.text, isFirst: true, isLast: true });
    return this.#websocket;
  }

  get bytes(): number {
    return this.websocket.length;
  }
}

/** Frames that have more bytes together are not joined: copying them would cost more than it saves. */
const JOINED_MAX_BYTES = 64 * 2 ** 10;

/** Lists are shared between connections, and so are their joined bytes. */
const JOINED = new WeakMap<readonly WireFrame[], Buffer>();

/** All frames of a list in one buffer, for one write; undefined when they are too long for that. */
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

/**
 * Header and text in one buffer, without copying the text twice. If the part has bytes, the caller writes them after
 * it.
 */
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

/** The same for binary payloads, with extra bits in the first byte. */
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
    frame[2] = length >> 8;
    frame[3] = length & 0xff;
  } else {
    frame[1] = LENGTH_64;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
}

/** Text to append to one part of one turn, or to the output of one terminal. */
export interface AppendedText {
  /** Equal for deltas that may be merged: same channel, turn, part, kind and wire. */
  readonly key: string;
  readonly content: string;
  /**
   * Longer text is not merged while it waits. Terminal output comes in large pieces: merging them costs more and more,
   * and saves nothing.
   */
  readonly maxCharacters?: number;
  /** Makes the same message with other text. */
  readonly withContent: (content: string) => object;
  /** The text before and after this was appended; undefined when it is unknown or no longer in memory. */
  readonly growth?: () => Growth | undefined;
}

/** A text of a state, before and after something was appended. */
export interface Growth {
  readonly before: string;
  readonly after: string;
}

/**
 * Text that waits: `text` from `start` to its end. If the state of the channel holds the same string anyway, waiting
 * costs no memory, however much waits for however many clients.
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
    /** Approximate size in memory. The exact size would require encoding a message that may still be merged. */
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
   * A copy of the message for one client's queue. Call it while the states around its action are in memory. The message
   * itself is shared, may live much longer, and does not keep the text of a state.
   */
  waiting(): Outgoing {
    if (!this.delta) return this;
    const growth = this.delta.growth?.();
    const tail = growth ? { text: growth.after, start: growth.before.length } : this.#tail;
    return new Outgoing(() => this.text, this.size, this.delta, tail, growth);
  }

  /** The message once nothing more can be merged with it: it now keeps only its own text. */
  settled(): Outgoing {
    return this.delta ? new Outgoing(this.text, this.size) : this;
  }

  /** The text of a delta that is still to be sent. */
  get tail(): Tail {
    return this.#tail ?? NO_TEXT;
  }

  /** The text that this was appended to, if known. */
  get before(): string | undefined {
    return this.#growth?.before;
  }
}

const NO_TEXT: Tail = { text: '', start: 0 };

export function outgoing(message: object, delta?: AppendedText): Outgoing {
  return outgoingDelta(JSON.stringify(message), delta);
}

/** A message whose JSON text exists already, with what it appends when it is a delta. */
export function outgoingDelta(text: string, delta: AppendedText | undefined): Outgoing {
  return new Outgoing(text, text.length, delta, delta && { text: delta.content, start: 0 });
}

export function outgoingNotification({ method, params }: { method: string; params: object }): Outgoing {
  return outgoing({ jsonrpc: '2.0', method, params });
}

/** A message whose JSON text exists already. */
export function outgoingText(text: string): Outgoing {
  return new Outgoing(text, text.length);
}

/** Merges two messages; undefined when they cannot be merged. The result has the number of the later one. */
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

/**
 * Joins two tails. If both are the same string of one state, the comparison is fast, however long the string is;
 * otherwise the texts are copied.
 */
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

/** A growing string is flattened each time it has grown by this many characters. */
const PIECE_CHARACTERS = 8 * 2 ** 10;

/**
 * Appends to a string. V8 keeps a string that grew bit by bit as a tree, several times its size; reading a character
 * flattens it.
 */
function grown(text: string, more: string): string {
  const whole = text + more;
  const isDue = Math.floor(whole.length / PIECE_CHARACTERS) > Math.floor(text.length / PIECE_CHARACTERS);
  if (isDue) whole.charCodeAt(0);
  return whole;
}
