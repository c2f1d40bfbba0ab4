/** A connection over a WebSocket: the browser's own, or the package `ws` in Node. */

import { isNode, openSocket, type SocketLike, socketOpened, type TransportFactory } from '@atrium/link';
import { AccessRefusedError } from './errors.js';

export type TokenSource = string | (() => string | Promise<string>);

export interface WebSocketOptions {
  readonly url: string;
  /** A function is called for each attempt, because a restarted host may have another token. */
  readonly token?: TokenSource;
}

export function webSocketTransport({ url, token }: WebSocketOptions): TransportFactory {
  return async () => {
    const place = placeOf(url);
    const socket = await socketTo(url, typeof token === 'function' ? await token() : token);
    return socketOpened(socket, (detail) => failure(place, detail));
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

/** A header keeps the token out of the logs of proxies; pages cannot set headers and use the query. */
function socketTo(url: string, token: string | undefined): Promise<SocketLike> {
  if (!isNode()) return openSocket(withToken(url, token));
  return openSocket(url, token === undefined ? {} : { Authorization: `Bearer ${token}` });
}

export function withToken(url: string, token: string | undefined): string {
  if (token === undefined) return url;
  const tokened = new URL(url);
  tokened.searchParams.set('token', token);
  return tokened.href;
}

/** Browsers hide the reason from pages, so the message lists the usual causes. */
function failure(place: string, detail: string): Error {
  const status = Number(/^Unexpected server response: (40[13])$/.exec(detail)?.[1]);
  if (status) return new AccessRefusedError(place, status);
  if (detail === '') return new Error(`Cannot connect to ${place}: is it up, is the token right?`);
  return new Error(`Cannot connect to ${place}: ${detail}. Is a host running there?`);
}
