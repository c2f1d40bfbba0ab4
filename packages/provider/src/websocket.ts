/** A connection over a WebSocket: the browser's own, or the package `ws` in Node. */
import { openSocket, socketOpened, type TransportFactory } from '@atrium/link';

/** A function is asked for the address of each connection. */
export function webSocketTransport(url: string | (() => string | Promise<string>)): TransportFactory {
  return async () => {
    const address = typeof url === 'function' ? await url() : url;
    return socketOpened(await openSocket(address), (detail) => {
      return new Error(`Cannot connect to ${address}${detail && ` (${detail})`}: is the host up?`);
    });
  };
}
