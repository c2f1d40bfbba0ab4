/** A connection over a WebSocket: the browser's own, or the package `ws` in Node. */
import { AccessRefusedError } from '../errors.js';
import type { Transport, TransportFactory } from '../transport.js';

export type TokenSource = string | (() => string | Promise<string>);

export interface WebSocketOptions {
  readonly url: string;
  /** A function is asked anew for each attempt, since a host may be started again with another token. */
  readonly token?: TokenSource;
}

/** A whole session can be one message. About as much fits into a string. */
export const MESSAGE_MAX_BYTES = 512 * 2 ** 20;

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
  return async () => {
    const place = placeOf(url);
    return opened(await socketTo(url, typeof token === 'function' ? await token() : token), place);
  };
}

/** The address without anything secret, for messages. */
function placeOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isFit = parsed && /^(ws|http)s?:$/.test(parsed.protocol) && parsed.hash === '';
  if (!isFit) throw new TypeError(`"${withoutQuery(url)}" is no address of a host. Write it as ws://localhost:9300`);
  return parsed.origin + parsed.pathname;
}

/** A token may stand behind these marks. */
function withoutQuery(url: string): string {
  return String(url).replace(/[?#].*$/s, '');
}

/** A header keeps the token out of the logs of whatever stands between; pages cannot set one and use the query. */
async function socketTo(url: string, token: string | undefined): Promise<SocketLike> {
  if (!isNode()) return new globalThis.WebSocket(withToken(url, token)) as unknown as SocketLike;
  const { WebSocket } = await import('ws');
  const headers: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  return new WebSocket(url, { headers, perMessageDeflate: false, maxPayload: MESSAGE_MAX_BYTES });
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

function opened(socket: SocketLike, place: string): Promise<Transport> {
  let detail = '';
  return new Promise((resolve, reject) => {
    socket.onerror = ({ message }) => {
      detail = message ?? '';
    };
    socket.onclose = () => reject(failure(place, detail));
    socket.onopen = () => resolve(transportOver(socket));
  });
}

/** Pages are never told why, so that they can only guess. */
function failure(place: string, detail: string): Error {
  const status = Number(/^Unexpected server response: (40[13])$/.exec(detail)?.[1]);
  if (status) return new AccessRefusedError(place, status);
  if (detail === '') return new Error(`Cannot connect to ${place}: is it up, is the token right?`);
  return new Error(`Cannot connect to ${place}: ${detail}. Is a host running there?`);
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
