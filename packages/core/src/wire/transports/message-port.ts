/**
 * A message port as a transport, for a host that runs in a worker. Strings go out; strings or plain objects come in.
 * There is no back-pressure, because a port does not tell how much its other end still has to read.
 */

import type { WireFrame } from '../frames.js';
import { PAYLOAD_MAX_BYTES } from '../limits.js';
import type { Transport, TransportEvents } from '../transport.js';

/** The common interface of Node's and the browsers' ports. */
export interface PortLike {
  postMessage(message: string): void;
  addEventListener(type: 'message' | 'close', listener: (event: object) => void): void;
  start?(): void;
  close(): void;
}

export function messagePortTransport(port: PortLike): Transport {
  return new MessagePortTransport(port);
}

class MessagePortTransport implements Transport {
  readonly name = 'message port';
  readonly bufferedBytes = 0;
  readonly #port: PortLike;
  #events: TransportEvents | undefined;
  #open = true;

  constructor(port: PortLike) {
    this.#port = port;
  }

  /** Starts the port, which keeps its messages until then. */
  start(events: TransportEvents): void {
    this.#events = events;
    this.#port.addEventListener('close', () => this.#finish());
    this.#port.addEventListener('message', (event) => this.#received('data' in event ? event.data : undefined));
    this.#port.start?.();
  }

  send(frames: readonly WireFrame[]): void {
    if (!this.#open) return;
    for (const frame of frames) this.#port.postMessage(frame.text);
  }

  /** Closes the port, which cannot carry a code or a reason. */
  close(): void {
    this.#port.close();
    this.#finish();
  }

  #received(data: unknown): void {
    if (!this.#open) return;
    const text = textOf(data);
    if (text.length > PAYLOAD_MAX_BYTES) return this.close();
    this.#events?.message(text);
  }

  #finish(): void {
    if (!this.#open) return;
    this.#open = false;
    queueMicrotask(() => this.#events?.closed());
  }
}

/** A message as text. What cannot be JSON becomes an empty text, which is answered like any text that is not JSON. */
function textOf(data: unknown): string {
  if (typeof data === 'string') return data;
  try {
    return JSON.stringify(data) ?? '';
  } catch {
    return '';
  }
}
