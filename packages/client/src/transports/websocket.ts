/** A connection over a WebSocket: the browser's own, or the package `ws` in Node. */
import type { Transport, TransportFactory } from '../transport.js';

export type TokenSource = string | (() => string | Promise<string>);

export interface WebSocketOptions {
  readonly url: string;
  /** A function is asked anew for each attempt, since a host that was started again has a new token. */
  readonly token?: TokenSource;
}

/** The part of a WebSocket that is needed. */
export interface SocketLike {
  onopen: (() => void) | null;
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  onclose: ((event: { readonly code: number; readonly reason: string }) => void) | null;
  onerror: ((event: { readonly message?: string }) => void) | null;
  send(text: string): void;
  close(): void;
}

export function webSocketTransport({ url, token }: WebSocketOptions): TransportFactory {
  return async () => opened(await socketTo(url, typeof token === 'function' ? await token() : token), url);
}

/** A header keeps the token out of the logs of whatever stands between; pages cannot set one and use the query. */
async function socketTo(url: string, token: string | undefined): Promise<SocketLike> {
  if (!isNode()) return new globalThis.WebSocket(withToken(url, token)) as unknown as SocketLike;
  const { WebSocket } = await import('ws');
  const headers: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  return new WebSocket(url, { headers, perMessageDeflate: false });
}

function isNode(): boolean {
  const { process } = globalThis as { process?: { versions?: { node?: string } } };
  return process?.versions?.node !== undefined;
}

export function withToken(url: string, token: string | undefined): string {
  if (token === undefined) return url;
  const tokened = new URL(url);
  tokened.searchParams.set('token', token);
  return tokened.href;
}

function opened(socket: SocketLike, url: string): Promise<Transport> {
  const { origin, pathname } = new URL(url);
  let detail = '';
  return new Promise((resolve, reject) => {
    socket.onerror = ({ message }) => {
      detail = message ? ` (${message})` : '';
    };
    socket.onclose = () =>
      reject(new Error(`Cannot connect to ${origin}${pathname}${detail}: is it up, is the token right?`));
    socket.onopen = () => resolve(transportOver(socket));
  });
}

function transportOver(socket: SocketLike): Transport {
  return {
    send: (text) => socket.send(text),
    close: () => socket.close(),
    onMessage: (listener) => {
      socket.onmessage = ({ data }) => listener(typeof data === 'string' ? data : '');
    },
    onClose: (listener) => {
      socket.onclose = ({ code, reason }) => listener({ code, reason: reason || `closed with code ${code}` });
    },
  };
}
