/** A wire between a host and a client that a test holds in its hand: it decides what is read, and when it breaks. */
import type { Transport, TransportEvents } from '@atrium/core/wire/transport.js';

/** More than the host lets wait before it begins to merge. */
const STALLED_BYTES = 2 ** 20;

export class FuzzLink {
  readonly transport: Transport;
  /** What the host sent and the client has not read yet. */
  readonly unread: string[] = [];
  /** The host has hung up; what it sent before can still be read. */
  isClosed = false;
  #events: TransportEvents | undefined;
  #isCut = false;
  #isStalled = false;

  constructor() {
    const isStalled = () => this.#isStalled;
    this.transport = {
      name: 'fuzz',
      start: (events) => {
        this.#events = events;
      },
      send: (frames) => {
        if (!this.#isCut && !this.isClosed) this.unread.push(...frames.map(({ text }) => text));
      },
      get bufferedBytes() {
        return isStalled() ? STALLED_BYTES : 0;
      },
      close: () => {
        this.isClosed = true;
      },
    };
  }

  post(text: string): void {
    if (!this.#isCut && !this.isClosed) this.#events?.message(text);
  }

  /** While stalled, nothing leaves the host; its deltas are merged. */
  set isStalled(stalled: boolean) {
    this.#isStalled = stalled;
    if (!stalled) this.#events?.drain();
  }

  /** The wire breaks: what is unread is lost. */
  cut(): void {
    if (this.#isCut) return;
    this.#isCut = true;
    this.unread.length = 0;
    this.#events?.closed();
  }
}
