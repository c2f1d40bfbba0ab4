/** Cuts a stream of bytes into lines. Keeps bytes until a line is whole, so that no character is ever cut in two. */

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

export class LineTooLongError extends Error {
  override readonly name = 'LineTooLongError';
  constructor(readonly maxBytes: number) {
    super(`a line is longer than ${maxBytes} bytes`);
  }
}

export class LineSplitter {
  readonly #maxBytes: number;
  #rest: Buffer[] = [];
  #restBytes = 0;

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
    this.#restBytes += piece.length;
    if (this.#restBytes > this.#maxBytes) throw new LineTooLongError(this.#maxBytes);
    this.#rest.push(piece);
  }

  #take(): string {
    const line = this.#rest.length === 1 ? this.#rest[0] : Buffer.concat(this.#rest);
    this.#rest = [];
    this.#restBytes = 0;
    return line === undefined ? '' : withoutCarriageReturn(line).toString('utf8');
  }
}

function withoutCarriageReturn(line: Buffer): Buffer {
  return line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line;
}
