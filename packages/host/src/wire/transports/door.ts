/** Connections that have not been let in yet. Past the limit the oldest has to go: an honest one is quick. */
import type { Duplex } from 'node:stream';

export class Door {
  readonly #waiting = new Set<Duplex>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#waiting.size;
  }

  arrived(socket: Duplex): void {
    this.#waiting.add(socket);
    socket.once('close', () => this.#waiting.delete(socket));
    const [oldest] = this.#waiting;
    if (oldest !== undefined && this.#waiting.size > this.#max) {
      this.#waiting.delete(oldest);
      oldest.destroy();
    }
  }

  /** Let in; it is no longer a stranger. */
  entered(socket: Duplex): void {
    this.#waiting.delete(socket);
  }
}
