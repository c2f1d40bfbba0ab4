/** Two ends of one connection inside a process: for tests, and for a host in the same program. */
import type { CloseReason, Transport } from '../transport.js';

/** What one end sends the other receives, in order, never in the same call. */
export function memoryPair(): [Transport, Transport] {
  const [near, far] = [new MemoryEnd(), new MemoryEnd()];
  near.other = far;
  far.other = near;
  return [near, far];
}

class MemoryEnd implements Transport {
  other: MemoryEnd | undefined;
  #open = true;
  #early: string[] = [];
  #message: ((text: string) => void) | undefined;
  #closed: ((reason: CloseReason) => void) | undefined;

  send(text: string): void {
    if (this.#open) queueMicrotask(() => this.other?.deliver(text));
  }

  close(): void {
    if (!this.#open) return;
    this.end({ reason: 'closed here' });
    queueMicrotask(() => this.other?.end({ reason: 'closed by the other side' }));
  }

  onMessage(listener: (text: string) => void): void {
    this.#message = listener;
    for (const text of this.#early.splice(0)) listener(text);
  }

  onClose(listener: (reason: CloseReason) => void): void {
    this.#closed = listener;
  }

  deliver(text: string): void {
    if (!this.#open) return;
    if (this.#message) this.#message(text);
    else this.#early.push(text);
  }

  end(reason: CloseReason): void {
    if (!this.#open) return;
    this.#open = false;
    this.#closed?.(reason);
  }
}
