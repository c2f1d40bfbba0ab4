/** Reads a range of lines out of a file of any size, holding no more of it in memory than is given back. */
import { createReadStream } from 'node:fs';
import { looksBinary } from './text.js';

const NEWLINE = 0x0a;

export interface LineRange {
  /** From 1. */
  readonly first: number;
  readonly last: number;
  readonly maxBytes: number;
}

export type Lines =
  | { readonly kind: 'binary' }
  /** `lineCount` is how far the file was read; the whole file has so many lines only if `text` reaches its end. */
  | { readonly kind: 'text'; readonly text: string; readonly cut: boolean; readonly lineCount: number };

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

/** Keeps the bytes of the wanted lines out of a stream of chunks. */
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

  /** Says whether it wants more. */
  take(chunk: Buffer): boolean {
    for (let start = 0; start < chunk.length; ) {
      if (this.line > this.range.last) return false;
      const newline = chunk.indexOf(NEWLINE, start);
      const end = newline < 0 ? chunk.length : newline + 1;
      this.atLineStart = false;
      if (this.line >= this.range.first && !this.keep(chunk.subarray(start, end))) return false;
      if (newline >= 0) this.nextLine();
      start = end;
    }
    return true;
  }

  /** Without half a character at the end, when it was cut there. */
  text(): string {
    return new TextDecoder().decode(Buffer.concat(this.kept), { stream: this.cut });
  }

  private nextLine(): void {
    this.line += 1;
    this.atLineStart = true;
  }

  private keep(piece: Buffer): boolean {
    const room = this.range.maxBytes - this.size;
    this.cut = piece.length > room;
    this.kept.push(piece.subarray(0, room));
    this.size += Math.min(piece.length, room);
    return !this.cut;
  }
}
