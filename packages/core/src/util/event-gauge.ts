/** Measures the events of a server-sent stream, without reading them: what lies between two empty lines. */

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

export class EventGauge {
  /** Bytes of the event that is not complete yet. */
  #bytes = 0;
  #isLineEmpty = true;
  #last = 0;

  /** The size of the largest event that the bytes belong to, complete or not. */
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
