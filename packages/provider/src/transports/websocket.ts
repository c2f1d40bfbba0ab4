/** A connection over a WebSocket: the one that is built in (browsers, Node 22), or the package `ws`. */
import type { Transport, TransportFactory } from '../transport.js';

/** The part of a WebSocket that is needed. */
export interface SocketLike {
  onopen: (() => void) | null;
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  onclose: ((event: { readonly code: number; readonly reason: string }) => void) | null;
  onerror: ((event: { readonly message?: string }) => void) | null;
  send(text: string): void;
  close(): void;
}

type SocketClass = new (url: string) => SocketLike;

/** A function is asked for the address of each connection. */
export function webSocketTransport(url: string | (() => string | Promise<string>)): TransportFactory {
  return async () => {
    const address = typeof url === 'function' ? await url() : url;
    return opened(new (await socketClass())(address), address);
  };
}

/** Loaded only where nothing is built in, so that a page never asks for the package. */
async function socketClass(): Promise<SocketClass> {
  const { WebSocket } = globalThis as { WebSocket?: unknown };
  return WebSocket ? (WebSocket as SocketClass) : (await import('ws')).WebSocket;
}

function opened(socket: SocketLike, url: string): Promise<Transport> {
  let detail = '';
  return new Promise((resolve, reject) => {
    socket.onerror = ({ message }) => {
      detail = message ? ` (${message})` : '';
    };
    socket.onclose = () => reject(new Error(`Cannot connect to ${url}${detail}: is the host up?`));
    socket.onopen = () => resolve(transportOver(socket));
  });
}

/** For sockets that are open, whichever side opened them. */
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
      socket.onclose = ({ code, reason }) => listener(reason || `closed with code ${code}`);
    },
  };
}
