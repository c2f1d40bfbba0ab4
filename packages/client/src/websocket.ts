/** A connection over a WebSocket: the browser's own, or the package `ws` in Node. */

import {
  isNode,
  onlyCertificate,
  openSocket,
  type SocketLike,
  socketOpened,
  type TransportFactory,
} from '@atrium/link';
import { AccessRefusedError } from './errors.js';

/** A function may have none: a page of the host has a cookie instead. */
export type TokenSource = string | (() => string | undefined | Promise<string | undefined>);

export interface WebSocketOptions {
  readonly url: string;
  /** A function is called for each attempt, because a restarted host may have another token. */
  readonly token?: TokenSource;
  /**
   * The one certificate (PEM) that the host may show, in Node: for a program that has the file. Without it, the certificate
   * has to be for the name in `url` and of an authority that Node trusts; `NODE_EXTRA_CA_CERTS` names a file with more.
   */
  readonly certificate?: string;
}

export function webSocketTransport({ url, token, certificate }: WebSocketOptions): TransportFactory {
  return async () => {
    const place = placeOf(url);
    const socket = await socketTo(url, typeof token === 'function' ? await token() : token, certificate);
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
function socketTo(url: string, token: string | undefined, certificate?: string): Promise<SocketLike> {
  if (!isNode()) return openSocket(withToken(url, token));
  const headers: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  return openSocket(url, headers, certificate === undefined ? undefined : onlyCertificate(certificate));
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
  if (detail === 'Unexpected server response: 429')
    return new Error(
      `${place} got too many attempts from here. Wait a minute, and check the token before you try again.`,
    );
  if (/certificate|altnames/i.test(detail))
    return new Error(
      `Cannot connect to ${place}: its certificate is not trusted here (${detail}). ` +
        'Use the name that it is for; if you trust who signed it, name a file with that certificate in NODE_EXTRA_CA_CERTS.',
    );
  if (detail === '') return new Error(`Cannot connect to ${place}: is it up, is the token right?`);
  return new Error(`Cannot connect to ${place}: ${detail}. Is a host running there?`);
}
