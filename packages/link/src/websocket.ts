/** A connection over a WebSocket: the browser's own, or the package `ws` in Node. */
import type { Transport } from './transport.js';

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

/** What the certificate of the other side has to be, in Node. */
interface SocketTls {
  readonly ca: string;
  readonly allowPartialTrustChain: boolean;
  checkServerIdentity(name: string, shown: { readonly raw: Uint8Array }): Error | undefined;
}

/**
 * Trusts one certificate and no other, whatever name it is for and whoever signed it. `pem` may hold a chain, which begins with
 * it.
 */
export function onlyCertificate(pem: string): SocketTls {
  const [, body = ''] = /-----BEGIN CERTIFICATE-----([^-]*)-----END CERTIFICATE-----/.exec(pem) ?? [];
  const known = body.replace(/\s+/g, '');
  return {
    ca: pem,
    allowPartialTrustChain: true,
    checkServerIdentity(_name, { raw }) {
      if (known !== '' && btoa(String.fromCharCode(...raw)) === known) return undefined;
      return new Error('this is not the certificate of the host that was started here');
    },
  };
}

/**
 * Opens a socket: the one that is built in where there is one (browsers, Node 22), otherwise that of the package `ws`. With
 * headers it is always that of `ws`, because built-in ones cannot send any.
 */
export async function openSocket(
  url: string,
  headers?: Readonly<Record<string, string>>,
  tls?: SocketTls,
): Promise<SocketLike> {
  const { WebSocket: BuiltIn } = globalThis as { WebSocket?: new (url: string) => unknown };
  if (BuiltIn && !headers && !tls) return new BuiltIn(url) as SocketLike;
  // Loaded only here, so that a page never asks for the package.
  const { WebSocket } = await import('ws');
  const limits = { perMessageDeflate: false, maxPayload: MESSAGE_MAX_BYTES } as const;
  return new WebSocket(url, { headers: { ...headers }, ...limits, ...tls });
}

export function isNode(): boolean {
  const { process } = globalThis as { process?: { versions?: { node?: string } } };
  return process?.versions?.node !== undefined;
}

/** Resolves when the socket is open. `failure` makes the error from the socket's message, which is empty in pages. */
export function socketOpened(socket: SocketLike, failure: (detail: string) => Error): Promise<Transport> {
  let detail = '';
  return new Promise((resolve, reject) => {
    socket.onerror = ({ message }) => {
      detail = message ?? '';
    };
    socket.onclose = () => reject(failure(detail));
    socket.onopen = () => resolve(transportOver(socket));
  });
}

/** For a socket that is open, whichever side opened it. */
export function transportOver(socket: SocketLike): Transport {
  const early: string[] = [];
  const textOf = (data: unknown) => (typeof data === 'string' ? data : '');
  socket.onmessage = ({ data }) => early.push(textOf(data));
  return {
    send: (text) => socket.send(text),
    close: () => socket.close(),
    onMessage: (listener) => {
      socket.onmessage = ({ data }) => listener(textOf(data));
      for (const text of early.splice(0)) listener(text);
    },
    onClose: (listener) => {
      socket.onclose = ({ code, reason }) => listener({ code, reason: reason || `closed with code ${code}` });
    },
  };
}
