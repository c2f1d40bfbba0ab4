/** Hands things over one by one, in order, never in the same tick in which they were posted. */

interface Letter<T> {
  readonly content: T;
  readonly bytes: number;
}

export class Mailbox<T> {
  readonly #deliver: (content: T) => void;
  readonly #emptied: () => void;
  #letters: Letter<T>[] = [];
  #bytes = 0;
  #open = false;
  #scheduled = false;

  constructor(deliver: (content: T) => void, emptied: () => void = () => {}) {
    this.#deliver = deliver;
    this.#emptied = emptied;
  }

  get bytes(): number {
    return this.#bytes;
  }

  post(content: T, bytes = 0): void {
    this.#letters.push({ content, bytes });
    this.#bytes += bytes;
    this.#schedule();
  }

  /** Starts delivering, or goes on with it. */
  open(): void {
    this.#open = true;
    this.#schedule();
  }

  /** Stops delivering; what is posted waits. */
  hold(): void {
    this.#open = false;
  }

  #schedule(): void {
    if (!this.#open || this.#scheduled || this.#letters.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => this.#empty());
  }

  #empty(): void {
    this.#scheduled = false;
    const letters = this.#letters;
    this.#letters = [];
    let taken = 0;
    for (const { content, bytes } of letters) {
      if (!this.#open) break;
      taken += 1;
      this.#bytes -= bytes;
      this.#deliver(content);
    }
    if (taken < letters.length) this.#letters = [...letters.slice(taken), ...this.#letters];
    if (this.#letters.length === 0) this.#emptied();
    this.#schedule();
  }
}
