/**
 * A host whose every word a test decides, for what our own host does not do yet. It serves the real page, answers the
 * handshake, and remembers what the page asks for.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { staticFiles } from '@atrium/host';
import { PROTOCOL_VERSION, type SessionState } from '@atrium/protocol';
import { onTestFinished } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { PAGE_FOLDER } from './browser.js';

export interface Asked {
  readonly id?: number;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

export interface PuppetHost {
  readonly link: string;
  readonly asked: readonly Asked[];
  /** What was asked for, by the name of the method. */
  ofMethod(method: string): readonly Asked[];
  /** Tells every page of an action. */
  act(channel: string, action: object): void;
}

interface Options {
  readonly session: SessionState;
  /** States of other channels. */
  readonly channels?: Readonly<Record<string, unknown>>;
  /** Answers to other requests: a result, now or later, or an error when it throws one with a code. */
  answer?(method: string, params: Asked['params']): unknown;
}

export async function startPuppetHost(options: Options): Promise<PuppetHost> {
  const asked: Asked[] = [];
  const files = await staticFiles(PAGE_FOLDER);
  const server = createServer((request, response) => files.answer(request, response));
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => {
    socket.on('message', (text) => {
      const message: Asked = JSON.parse(String(text));
      asked.push(message);
      if (message.id !== undefined) void reply(socket, options, message);
      else if (message.method === 'dispatchAction') echo(socket, message, asked.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets.clients) socket.terminate();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const session = encodeURIComponent(options.session.summary.resource);
  return {
    link: `http://127.0.0.1:${port}/#/session/${session}`,
    asked,
    ofMethod: (method) => asked.filter((message) => message.method === method),
    act: (channel, action) => {
      const params = { channel, serverSeq: asked.push({ method: 'action', params: {} }), action };
      for (const socket of sockets.clients) socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'action', params }));
    },
  };
}

async function reply(socket: WebSocket, options: Options, { id, method, params }: Asked): Promise<void> {
  const send = (body: object) => socket.send(JSON.stringify({ jsonrpc: '2.0', id, ...body }));
  try {
    send({ result: await resultOf(options, method, params) });
  } catch (error) {
    const { code = -32601, message } = error as { code?: number; message: string };
    send({ error: { code, message } });
  }
}

function resultOf({ session, channels, answer }: Options, method: string, params: Asked['params']): unknown {
  if (method === 'initialize')
    return {
      protocolVersion: PROTOCOL_VERSION,
      serverSeq: 0,
      snapshots: [],
      completionTriggerCharacters: ['#'],
    };
  if (method === 'listSessions') return { items: [session.summary] };
  if (method === 'ping') return {};
  if (method === 'subscribe') {
    const resource = String(params.channel);
    const state = { 'ahp-root://': { agents: [] }, [session.summary.resource]: session, ...channels }[resource];
    return { snapshot: { resource, state, fromSeq: 0 } };
  }
  const result = answer?.(method, params);
  if (result === undefined) throw new Error(`not played here: ${method}`);
  return result;
}

/** Accepts everything, so that nothing stays undecided. */
function echo(socket: WebSocket, { params }: Asked, serverSeq: number): void {
  const { channel, clientSeq, action } = params;
  const envelope = { channel, serverSeq, action, origin: { clientId: 'another', clientSeq } };
  socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'action', params: envelope }));
}

/** A session to begin from. */
export function puppetSession(members: Partial<SessionState>, summary: object = {}): SessionState {
  return {
    summary: {
      resource: 'ahp-session:/puppet',
      provider: 'mock',
      title: 'Puppet',
      status: 1,
      createdAt: 0,
      modifiedAt: 0,
      ...summary,
    },
    lifecycle: 'ready',
    turns: [],
    ...members,
  };
}
