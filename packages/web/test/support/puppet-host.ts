/**
 * A host whose every word a test decides, for what our own host does not do yet. It serves the real page, answers the
 * handshake, and remembers what the page asks for.
 */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { staticFiles } from '@atrium/host';
import {
  AHP_1_VERSION,
  type ChatState,
  defaultChatUri,
  type Message,
  type SessionState,
  type SessionSummary,
  standingEntry,
} from '@atrium/protocol/ahp-1';
import { onTestFinished } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { PAGE_FOLDER } from './browser.js';
import { onLastingPort } from './ports.js';

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

/** A session with one chat, as the puppet shows it. */
export interface Puppet {
  readonly uri: string;
  readonly session: SessionState;
  readonly chat: ChatState;
  readonly summary: SessionSummary;
}

interface Options {
  readonly session: Puppet;
  /** What it says of itself: as a host of ours, unless given. */
  readonly greeting?: object;
  /** States of other channels. */
  readonly channels?: Readonly<Record<string, unknown>>;
  /** Which actions it does not accept. */
  isRefusing?(action: { readonly type: string }): boolean;
  /** Answers to other requests: a result, now or later, or an error when it throws one with a code. */
  answer?(method: string, params: Asked['params']): unknown;
}

export async function startPuppetHost(options: Options): Promise<PuppetHost> {
  const asked: Asked[] = [];
  const files = await staticFiles(PAGE_FOLDER);
  const server = await onLastingPort(listenOn((request, response) => files.answer(request, response)));
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => {
    let clientId: unknown;
    socket.on('message', (text) => {
      const message: Asked = JSON.parse(String(text));
      asked.push(message);
      if (message.method === 'initialize') clientId = message.params.clientId;
      if (message.id !== undefined) void reply(socket, options, message);
      else if (message.method === 'dispatchAction')
        echo(socket, options, { ...message, clientId, serverSeq: asked.length });
    });
  });
  onTestFinished(async () => {
    for (const socket of sockets.clients) socket.terminate();
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  });
  const { port } = server.address() as AddressInfo;
  const session = encodeURIComponent(options.session.uri);
  return {
    link: `http://localhost:${port}/#/session/${session}`,
    asked,
    ofMethod: (method) => asked.filter((message) => message.method === method),
    act: (channel, action) => {
      const params = { channel, serverSeq: asked.push({ method: 'action', params: {} }), action };
      for (const socket of sockets.clients) socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'action', params }));
    },
  };
}

function listenOn(answer: RequestListener): (port: number) => Promise<Server> {
  return async (port) => {
    const server = createServer(answer).listen(port, 'localhost');
    await once(server, 'listening');
    return server;
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

function resultOf(options: Options, method: string, params: Asked['params']): unknown {
  const { session: puppet, channels, greeting = { serverInfo: { name: 'atrium' } }, answer } = options;
  if (method === 'initialize') {
    const completionTriggerCharacters = ['#'];
    return { protocolVersion: AHP_1_VERSION, serverSeq: 0, snapshots: [], completionTriggerCharacters, ...greeting };
  }
  if (method === 'listSessions') return { items: [puppet.summary] };
  if (method === 'ping') return {};
  if (method === 'subscribe') {
    const resource = String(params.channel);
    const own = { 'ahp-root://': { agents: [] }, [puppet.uri]: puppet.session, [puppet.chat.resource]: puppet.chat };
    const states: Record<string, unknown> = { ...own, ...channels };
    return { snapshot: { resource, state: states[resource], fromSeq: 0 } };
  }
  const result = answer?.(method, params);
  if (result === undefined) throw new Error(`not played here: ${method}`);
  return result;
}

interface Dispatched extends Asked {
  readonly clientId: unknown;
  readonly serverSeq: number;
}

/** Accepts everything that it is not told to refuse, so that nothing stays undecided. */
function echo(socket: WebSocket, { isRefusing }: Options, { params, clientId, serverSeq }: Dispatched): void {
  const { channel, clientSeq, action } = params;
  const rejected = isRefusing?.(action as { type: string }) && { rejectionReason: 'not here' };
  const envelope = { channel, serverSeq, action, origin: { clientId, clientSeq }, ...rejected };
  socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'action', params: envelope }));
}

const TIME = '2026-01-01T00:00:00.000Z';

/** What a person said. */
export function said(text: string): Message {
  return { text, origin: { kind: 'user' } };
}

/** A turn that has begun. */
export function begun(responseParts: NonNullable<ChatState['activeTurn']>['responseParts'], text = 'go') {
  return { id: 't1', startedAt: TIME, message: said(text), responseParts };
}

/** A session to begin from, with its chat. */
export function puppetSession(session: Partial<SessionState> = {}, chat: Partial<ChatState> = {}): Puppet {
  const uri = 'ahp-session:/puppet';
  const { title = 'Puppet', status = chat.status ?? 1 } = session;
  const resource = defaultChatUri(uri);
  const entry = { resource, title, status, modifiedAt: TIME };
  const { workingDirectories, project } = session;
  return {
    uri,
    session: {
      ...{ provider: 'mock', title, status, lifecycle: 'ready' as const, activeClients: [] },
      ...{ chats: [entry], defaultChat: resource },
      ...session,
    },
    chat: { ...entry, turns: [], ...chat },
    summary: {
      ...{ resource: uri, provider: 'mock', title, status, createdAt: TIME, modifiedAt: TIME },
      ...(workingDirectories && { workingDirectories }),
      ...(project && { project }),
    },
  };
}

/** A question that belongs to no turn. */
export function standing(request: Parameters<typeof standingEntry>[1]): SessionState['inputNeeded'] {
  return [standingEntry(defaultChatUri('ahp-session:/puppet'), request)];
}
