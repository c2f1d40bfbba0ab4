/** Both ends of a connection in one process: a transport for the host, and plain callbacks for the program around it. */

import type { WireFrame } from '../frames.js';
import { CloseCode, type MessagePart, type Transport, type TransportEvents, textOfPart } from '../transport.js';

interface Letter<T> {
  readonly content: T;
  readonly bytes: number;
}

/** Hands items over one by one, in order, never in the same tick in which they were posted. */
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

  /** Starts or resumes delivery. */
  open(): void {
    this.#open = true;
    this.#schedule();
  }

  /** Stops delivery; posted items wait. */
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

/** The client's end. Set `onmessage` and `onclose` before the next tick. */
export interface ClientEnd {
  onmessage: (text: string) => void;
  /** The connection is over, whichever end closed it. Called once. */
  onclose: (code: number, reason: string) => void;
  send(text: string): void;
  /** Stops reading, as a slow client does. What the host sends then counts as buffered. */
  pause(): void;
  resume(): void;
  close(): void;
}

type ToHost = { readonly text: string } | 'closed';
type ToClient = Pick<MessagePart, 'text' | 'isLast'> | { readonly code: number; readonly reason: string };

export function transportPair(): [Transport, ClientEnd] {
  const pair = new Pair();
  return [pair.host, pair.client];
}

class Pair {
  #events: TransportEvents | undefined;
  #open = true;
  /** The part of a message received so far, if it comes in parts. */
  #begun = '';
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
      sendPart: (part) => this.#post(textOfPart(part), part.isLast),
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
    for (const { text } of frames) this.#post(text, true);
  }

  #post(text: string, isLast: boolean): void {
    if (this.#open) this.#toClient.post({ text, isLast }, text.length);
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
    if (!('text' in item)) return this.client.onclose(item.code, item.reason);
    const text = this.#begun + item.text;
    this.#begun = item.isLast ? '' : text;
    if (item.isLast) this.client.onmessage(text);
  }
}
