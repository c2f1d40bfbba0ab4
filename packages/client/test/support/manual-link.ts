/** A connection whose frames move only when a test says so, and are lost when it breaks. */
import type { CloseReason, Transport } from '../../src/index.js';

export class ManualLink {
  readonly #toHost: string[] = [];
  readonly #toClient: string[] = [];
  #hostHears: (text: string) => void = () => {};
  #clientHears: (text: string) => void = () => {};
  #clientEnds: (reason: CloseReason) => void = () => {};
  #open = true;

  readonly client: Transport = {
    send: (text) => this.#toHost.push(text),
    close: () => this.break(),
    onMessage: (listener) => {
      this.#clientHears = listener;
    },
    onClose: (listener) => {
      this.#clientEnds = listener;
    },
  };

  readonly host: Transport = {
    send: (text) => this.#toClient.push(text),
    close: () => this.break(),
    onMessage: (listener) => {
      this.#hostHears = listener;
    },
    onClose: () => {},
  };

  get isOpen(): boolean {
    return this.#open;
  }

  get isQuiet(): boolean {
    return !this.#open || (this.#toHost.length === 0 && this.#toClient.length === 0);
  }

  /** Moves one frame, if there is one. */
  moveToHost(): void {
    const text = this.#open ? this.#toHost.shift() : undefined;
    if (text !== undefined) this.#hostHears(text);
  }

  moveToClient(): void {
    const text = this.#open ? this.#toClient.shift() : undefined;
    if (text !== undefined) this.#clientHears(text);
  }

  /** A frame that was on its way when the connection broke arrives after all, as out of the buffer of a socket. */
  moveLate(): void {
    const text = this.#open ? undefined : this.#toHost.shift();
    if (text !== undefined) this.#hostHears(text);
  }

  break(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#clientEnds({ reason: 'broken' });
  }
}
