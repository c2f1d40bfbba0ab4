/** A set of listeners. One that throws is logged and does not stop the others. */

/** Receives warnings of a library about things it ignored. Never gets tokens or codes. */
export type Log = (message: string, detail?: unknown) => void;

/** Warns on the console under the name of a library. */
export function consoleLog(library: string): Log {
  return (message, detail) => console.warn(`[${library}] ${message}`, ...(detail === undefined ? [] : [detail]));
}

export class Emitter<T> {
  readonly #listeners = new Set<(value: T) => void>();
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Adds a listener; the returned function removes it. */
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
