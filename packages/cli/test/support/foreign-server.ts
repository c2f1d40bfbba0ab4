/** A host of somebody else on a port of its own: it has nothing but the protocol, and takes its token in the address only. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Transport } from '@atrium/client';
import type { ChatState } from '@atrium/protocol/ahp-1';
import { onTestFinished } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { ForeignHost } from '../../../client/test/support/foreign-host.js';

export const TOKEN = 'open sesame';

export interface ForeignServer {
  readonly host: ForeignHost;
  /** Without the token. */
  readonly url: string;
  /** The query of each attempt to connect, and whether there was a header. */
  readonly attempts: { readonly query: string; readonly hasHeader: boolean }[];
}

/** Its agent says every message back. `parameter` is what it calls the token. */
export async function foreignServer(version: string, parameter = 'tkn'): Promise<ForeignServer> {
  const host = new ForeignHost({ versions: [version] });
  const attempts: ForeignServer['attempts'] = [];
  const sockets = new WebSocketServer({ noServer: true });
  const server = createServer().on('upgrade', (request, socket, head) => {
    const { searchParams, search } = addressOf(request);
    attempts.push({ query: search, hasHeader: request.headers.authorization !== undefined });
    if (searchParams.get(parameter) !== TOKEN) return void socket.end('HTTP/1.1 401 Unauthorized\r\n\r\n');
    sockets.handleUpgrade(request, socket, head, (opened) => host.accept(transportOf(opened)));
  });
  host.judge = (action) => {
    if (action.type === 'chat/turnStarted' || action.type === 'chat/turnResume') setImmediate(() => answerAll(host));
    return undefined;
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const each of sockets.clients) each.terminate();
    server.close();
  });
  return { host, attempts, url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function addressOf({ url = '/' }: IncomingMessage): URL {
  return new URL(url, 'ws://localhost');
}

function answerAll(host: ForeignHost): void {
  for (const uri of [...host.states.keys()]) if ((host.chat(uri) as Partial<ChatState>).activeTurn) host.answer(uri);
}

function transportOf(socket: WebSocket): Transport {
  return {
    send: (text) => socket.send(text),
    close: () => socket.close(),
    onMessage: (listener) => void socket.on('message', (data) => listener(String(data))),
    onClose: (listener) => void socket.on('close', (code, reason) => listener({ code, reason: String(reason) })),
  };
}
