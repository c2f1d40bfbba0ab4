/** Cuts a stream of bytes into lines of bounded length. */

export class LineTooLongError extends Error {
  override readonly name = 'LineTooLongError';
}

const NEWLINE = 0x0a;

export class LineSplitter {
  #parts: Buffer[] = [];
  #held = 0;

  constructor(private readonly maxBytes: number) {}

  /** The lines that are complete now. Throws when one gets too long; the rest of the stream is worth nothing then. */
  *push(chunk: Buffer): Generator<string> {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#hold(chunk.subarray(start, end));
      start = end + 1;
      yield this.#take();
    }
    this.#hold(chunk.subarray(start));
  }

  #hold(part: Buffer): void {
    this.#held += part.length;
    if (this.#held > this.maxBytes) {
      this.#parts = [];
      throw new LineTooLongError(`a line is longer than ${this.maxBytes} bytes`);
    }
    if (part.length > 0) this.#parts.push(part);
  }

  #take(): string {
    const line = Buffer.concat(this.#parts).toString('utf8');
    this.#parts = [];
    this.#held = 0;
    return line;
  }
}
