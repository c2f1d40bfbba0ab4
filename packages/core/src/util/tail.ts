/** Keeps the end of a long text in bounded memory. */

export class Tail {
  private chunks: Buffer[] = [];
  private held = 0;
  private total = 0;

  constructor(private readonly maxBytes: number) {}

  /** Bytes that are no longer held. */
  get dropped(): number {
    return this.total - Math.min(this.total, this.maxBytes);
  }

  push(text: string): void {
    const chunk = Buffer.from(text);
    this.chunks.push(chunk);
    this.held += chunk.length;
    this.total += chunk.length;
    // Twice the limit, so that joining costs nothing per byte in the long run.
    if (this.held > 2 * this.maxBytes) this.compact();
  }

  /** The last bytes as text, at most as many as are kept; a character cut in two at the beginning is left out. */
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
    // A copy, because a view would keep the dropped bytes alive.
    const kept = start === 0 ? joined : Buffer.from(joined.subarray(start));
    this.chunks = [kept];
    this.held = kept.length;
  }
}

/** Whether a byte goes on with a character of UTF-8 that began before it. */
function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
