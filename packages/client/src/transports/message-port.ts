/** A connection over a MessagePort: to a worker, a frame, or another thread. */
import type { Transport } from '../transport.js';

/** The part of a MessagePort that is needed. Browsers and Node both have it. */
export interface PortLike {
  postMessage(message: string): void;
  close(): void;
  start?(): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: 'close', listener: () => void): void;
}

export function messagePortTransport(port: PortLike): Transport {
  let ended = false;
  let closed: Parameters<Transport['onClose']>[0] | undefined;
  const end = (reason: string): void => {
    if (ended) return;
    ended = true;
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
