/** Two ends of one connection inside a process. */
import type { Transport } from '../transport.js';

/** What one end sends the other receives, in order, never in the same call. */
export function memoryPair(): [Transport, Transport] {
  const [near, far] = [new MemoryEnd(), new MemoryEnd()];
  near.other = far;
  far.other = near;
  return [near, far];
}

class MemoryEnd implements Transport {
  other: MemoryEnd | undefined;
  #isOpen = true;
  readonly #early: string[] = [];
  #message: ((text: string) => void) | undefined;
  #closed: ((reason: string) => void) | undefined;

  send(text: string): void {
    if (this.#isOpen) queueMicrotask(() => this.other?.deliver(text));
  }

  close(): void {
    if (!this.#isOpen) return;
    queueMicrotask(() => this.other?.end('closed by the other side'));
    this.end('closed here');
  }

  onMessage(listener: (text: string) => void): void {
    this.#message = listener;
    for (const text of this.#early.splice(0)) listener(text);
  }

  onClose(listener: (reason: string) => void): void {
    this.#closed = listener;
  }

  deliver(text: string): void {
    if (!this.#isOpen) return;
    if (this.#message) this.#message(text);
    else this.#early.push(text);
  }

  end(reason: string): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#closed?.(reason);
  }
}
