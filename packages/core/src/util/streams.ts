/** Reads streams in bounded memory: line by line, a range of lines, only the end, or only the size of events. */
import { createReadStream } from 'node:fs';
import { looksBinary } from './text.js';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

export class LineTooLongError extends Error {
  override readonly name = 'LineTooLongError';
  constructor(readonly maxBytes: number) {
    super(`a line is longer than ${maxBytes} bytes`);
  }
}

/** Splits a stream of bytes into lines. It keeps bytes until a line is complete, so it never splits a character. */
export class LineSplitter {
  readonly #maxBytes: number;
  #buffered: Buffer[] = [];
  #bufferedBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that this chunk completes, without their ends; empty lines are left out. */
  *push(chunk: Buffer): Generator<string> {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      this.#keep(chunk.subarray(start, end));
      start = end + 1;
      const line = this.#take();
      if (line.length > 0) yield line;
    }
    this.#keep(chunk.subarray(start));
  }

  #keep(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#bufferedBytes += piece.length;
    if (this.#bufferedBytes > this.#maxBytes) throw new LineTooLongError(this.#maxBytes);
    this.#buffered.push(piece);
  }

  #take(): string {
    const line = this.#buffered.length === 1 ? this.#buffered[0] : Buffer.concat(this.#buffered);
    this.#buffered = [];
    this.#bufferedBytes = 0;
    return line === undefined ? '' : withoutCarriageReturn(line).toString('utf8');
  }
}

function withoutCarriageReturn(line: Buffer): Buffer {
  return line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line;
}

export interface LineRange {
  /** From 1. */
  readonly first: number;
  readonly last: number;
  readonly maxBytes: number;
}

export type Lines =
  | { readonly kind: 'binary' }
  /** `lineCount` counts the lines read so far; it is the total only if `text` reaches the end of the file. */
  | { readonly kind: 'text'; readonly text: string; readonly cut: boolean; readonly lineCount: number };

/** Reads a range of lines of a file of any size. It keeps no more in memory than it returns. */
export async function readLines(file: string, range: LineRange, signal: AbortSignal): Promise<Lines> {
  const window = new LineWindow(range);
  let seen = 0;
  for await (const chunk of createReadStream(file, { signal }) as AsyncIterable<Buffer>) {
    if (seen === 0 && looksBinary(chunk)) return { kind: 'binary' };
    seen += chunk.length;
    if (!window.take(chunk)) break;
  }
  return { kind: 'text', text: window.text(), cut: window.cut, lineCount: window.lineCount };
}

/** Collects the bytes of the wanted lines from a stream of chunks. */
class LineWindow {
  cut = false;
  private kept: Buffer[] = [];
  private size = 0;
  private line = 1;
  private atLineStart = true;

  constructor(private readonly range: LineRange) {}

  get lineCount(): number {
    return this.atLineStart ? this.line - 1 : this.line;
  }

  /** Returns true while it needs more. */
  take(chunk: Buffer): boolean {
    for (let start = 0; start < chunk.length; ) {
      if (this.line > this.range.last) return false;
      const newline = chunk.indexOf(LINE_FEED, start);
      const end = newline < 0 ? chunk.length : newline + 1;
      this.atLineStart = false;
      if (this.line >= this.range.first && !this.keep(chunk.subarray(start, end))) return false;
      if (newline >= 0) this.nextLine();
      start = end;
    }
    return true;
  }

  /** The text, without a character that the cut has split at the end. */
  text(): string {
    return new TextDecoder().decode(Buffer.concat(this.kept), { stream: this.cut });
  }

  private nextLine(): void {
    this.line += 1;
    this.atLineStart = true;
  }

  private keep(piece: Buffer): boolean {
    const left = this.range.maxBytes - this.size;
    this.cut = piece.length > left;
    this.kept.push(piece.subarray(0, left));
    this.size += Math.min(piece.length, left);
    return !this.cut;
  }
}

/** Keeps the end of a long text in bounded memory. */
export class Tail {
  private chunks: Buffer[] = [];
  private heldBytes = 0;
  private total = 0;

  constructor(private readonly maxBytes: number) {}

  /** The number of bytes no longer kept. */
  get dropped(): number {
    return this.total - Math.min(this.total, this.maxBytes);
  }

  push(text: string): void {
    const chunk = Buffer.from(text);
    this.chunks.push(chunk);
    this.heldBytes += chunk.length;
    this.total += chunk.length;
    // Compact only at twice the limit, so that joining costs nothing per byte in the long run.
    if (this.heldBytes > 2 * this.maxBytes) this.compact();
  }

  /** The last bytes as text, at most as many as are kept. A split character at the beginning is left out. */
  text(maxBytes = this.maxBytes): string {
    this.compact();
    const bytes = this.chunks[0] ?? Buffer.alloc(0);
    let start = Math.max(0, bytes.length - maxBytes);
    while (start > 0 && isContinuation(bytes[start])) start += 1;
    return bytes.toString('utf8', start);
  }

  private compact(): void {
    const joined = Buffer.concat(this.chunks);
    let start = Math.max(0, joined.length - this.maxBytes);
    while (start > 0 && isContinuation(joined[start])) start += 1;
    // Copy, because a view would keep the dropped bytes in memory.
    const kept = start === 0 ? joined : Buffer.from(joined.subarray(start));
    this.chunks = [kept];
    this.heldBytes = kept.length;
  }
}

/** True for a byte that continues a UTF-8 character. */
function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** Measures the events of a server-sent stream without parsing them. An empty line ends an event. */
export class EventGauge {
  /** Bytes of the incomplete event. */
  #bytes = 0;
  #isLineEmpty = true;
  #last = 0;

  /** The size of the largest event to which these bytes belong, complete or not. */
  push(chunk: Uint8Array): number {
    let largest = 0;
    for (const byte of chunk) {
      this.#bytes += 1;
      if (this.#bytes > largest) largest = this.#bytes;
      const isRestOfBreak = byte === LINE_FEED && this.#last === CARRIAGE_RETURN;
      if (!isRestOfBreak) this.#step(byte);
      this.#last = byte;
    }
    return largest;
  }

  #step(byte: number): void {
    const isBreak = byte === LINE_FEED || byte === CARRIAGE_RETURN;
    if (isBreak && this.#isLineEmpty) this.#bytes = 0;
    this.#isLineEmpty = isBreak;
  }
}
