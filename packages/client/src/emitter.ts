/** A set of listeners. One that throws is logged and does not stop the others. */
import type { Log } from './log.js';

export class Emitter<T> {
  readonly #listeners = new Set<(value: T) => void>();
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Adds a listener; the returned function takes it away. */
  on(listener: (value: T) => void): () => void {
    const entry = (value: T) => listener(value);
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }

  emit(value: T): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(value);
      } catch (error) {
        this.#log('a listener threw', error);
      }
    }
  }
}
