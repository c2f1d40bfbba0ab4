/** Two ends in one process: a transport for the host, and plain callbacks for whoever embeds or tests it. */
import { CloseCode, type Transport, type TransportEvents } from '../transport.js';
import type { WireFrame } from '../wire-frame.js';
import { Mailbox } from './mailbox.js';

/** The client's side. Set `onmessage` and `onclose` before the next tick. */
export interface ClientEnd {
  onmessage: (text: string) => void;
  /** The connection is over, whoever ended it. Called once. */
  onclose: (code: number, reason: string) => void;
  send(text: string): void;
  /** Stops reading, as a slow client does. What the host sends then counts as buffered. */
  pause(): void;
  resume(): void;
  close(): void;
}

type ToHost = { readonly text: string } | 'closed';
type ToClient = { readonly text: string } | { readonly code: number; readonly reason: string };

export function transportPair(): [Transport, ClientEnd] {
  const pair = new Pair();
  return [pair.host, pair.client];
}

class Pair {
  #events: TransportEvents | undefined;
  #open = true;
  readonly #toHost = new Mailbox<ToHost>((item) => this.#hostReceives(item));
  readonly #toClient = new Mailbox<ToClient>(
    (item) => this.#clientReceives(item),
    () => this.#events?.drain(),
  );

  readonly host: Transport = this.#hostEnd();
  readonly client: ClientEnd = this.#clientEnd();

  constructor() {
    this.#toClient.open();
  }

  #hostEnd(): Transport {
    const toClient = this.#toClient;
    return {
      name: 'in-process',
      start: (events) => {
        this.#events = events;
        this.#toHost.open();
      },
      send: (frames) => this.#send(frames),
      get bufferedBytes() {
        return toClient.bytes;
      },
      pause: () => this.#toHost.hold(),
      resume: () => this.#toHost.open(),
      close: (code, reason) => this.#close(code, reason),
    };
  }

  #clientEnd(): ClientEnd {
    return {
      onmessage: () => {},
      onclose: () => {},
      send: (text) => {
        if (this.#open) this.#toHost.post({ text });
      },
      pause: () => this.#toClient.hold(),
      resume: () => this.#toClient.open(),
      close: () => this.#close(CloseCode.Normal, ''),
    };
  }

  #send(frames: readonly WireFrame[]): void {
    if (!this.#open) return;
    for (const { text } of frames) this.#toClient.post({ text }, text.length);
  }

  #close(code: number, reason: string): void {
    if (!this.#open) return;
    this.#open = false;
    this.#toHost.post('closed');
    this.#toClient.post({ code, reason });
  }

  #hostReceives(item: ToHost): void {
    if (item === 'closed') this.#events?.closed();
    else this.#events?.message(item.text);
  }

  #clientReceives(item: ToClient): void {
    if ('text' in item) this.client.onmessage(item.text);
    else this.client.onclose(item.code, item.reason);
  }
}
