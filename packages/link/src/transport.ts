/** A transport moves whole JSON messages in order and does not look into them. */

export interface CloseReason {
  /** The close code of a WebSocket, where there was one. */
  readonly code?: number;
  readonly reason: string;
}

/** An open connection. */
export interface Transport {
  send(text: string): void;
  close(): void;
  /** Sets the one listener. Messages that came earlier are delivered to it. */
  onMessage(listener: (text: string) => void): void;
  /** Sets the one listener, called once when the connection ends, whichever side ended it. */
  onClose(listener: (reason: CloseReason) => void): void;
}

/** Opens a new connection; called again for every attempt to reconnect. */
export type TransportFactory = () => Transport | Promise<Transport>;

/** Two ends of one connection inside a process. What one end sends the other receives, in order, never in the same call. */
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
  #closed: ((reason: CloseReason) => void) | undefined;

  send(text: string): void {
    if (this.#isOpen) queueMicrotask(() => this.other?.deliver(text));
  }

  close(): void {
    if (!this.#isOpen) return;
    queueMicrotask(() => this.other?.end({ reason: 'closed by the other side' }));
    this.end({ reason: 'closed here' });
  }

  onMessage(listener: (text: string) => void): void {
    this.#message = listener;
    for (const text of this.#early.splice(0)) listener(text);
  }

  onClose(listener: (reason: CloseReason) => void): void {
    this.#closed = listener;
  }

  deliver(text: string): void {
    if (!this.#isOpen) return;
    if (this.#message) this.#message(text);
    else this.#early.push(text);
  }

  end(reason: CloseReason): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#closed?.(reason);
  }
}

/** The part of a MessagePort that is needed. Browsers and Node both have it. */
export interface PortLike {
  postMessage(message: string): void;
  close(): void;
  start?(): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: 'close', listener: () => void): void;
}

/** A connection over a MessagePort: to a worker, a frame, or another thread. */
export function messagePortTransport(port: PortLike): Transport {
  let hasEnded = false;
  let closed: ((reason: CloseReason) => void) | undefined;
  const end = (reason: string): void => {
    if (hasEnded) return;
    hasEnded = true;
    closed?.({ reason });
  };
  port.addEventListener('close', () => end('the port was closed'));
  return {
    send: (text) => port.postMessage(text),
    close: () => {
      port.close();
      end('closed here');
    },
    onMessage: (listener) => {
      port.addEventListener('message', ({ data }) => listener(typeof data === 'string' ? data : JSON.stringify(data)));
      port.start?.();
    },
    onClose: (listener) => {
      closed = listener;
    },
  };
}
