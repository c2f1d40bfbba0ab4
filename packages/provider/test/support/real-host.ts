/** A real host with a real gateway on a real port, a scripted agent, and a client. Ended after the test. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Client, connect, type OpenSession, type OpenSessionState } from '@atrium/client';
import {
  builtinTools,
  createHost,
  type Host,
  MemoryLog,
  type Script,
  scriptedAgent,
  startGatewayServer,
  type Transport,
  transportPair,
} from '@atrium/host';
import type { CloseReason } from '@atrium/link';
import type { ChatState, SessionState, Turn } from '@atrium/protocol/ahp-1';
import { onTestFinished } from 'vitest';

const GOING_AWAY = 1001;

export interface RealHostOptions {
  /** What the agent does, by the text of the message. */
  readonly prompts: NonNullable<Script['prompts']>;
  readonly sections?: Readonly<Record<string, string>>;
  /** Any free one by default. */
  readonly port?: number;
  /** What the folder declares in its `atrium.json`. */
  readonly providers?: Readonly<Record<string, { command: string; args?: readonly string[]; env?: object }>>;
}

export interface RealHost {
  readonly host: Host;
  readonly url: string;
  readonly folder: string;
  readonly client: Client;
  readonly session: OpenSession;
  /** The id by which providers know the session. */
  readonly sessionId: string;
  /** Says something and waits for the end of the turn. */
  say(text: string): Promise<Turn>;
  /** Another session in the same folder. */
  open(): Promise<OpenSession>;
  /** A connection for a provider that needs no token. */
  inProcess(): ReturnType<typeof inProcess>;
  stop(): Promise<void>;
  /** Closes the port and opens it again, with the sockets of all providers. */
  cutConnections(): void;
}

export async function startRealHost(options: RealHostOptions): Promise<RealHost> {
  const { prompts, sections, providers } = options;
  const folder = await mkdtemp(path.join(tmpdir(), 'atrium-provider-'));
  if (providers) await writeFile(path.join(folder, 'atrium.json'), JSON.stringify({ providers }));
  const agent = scriptedAgent({ provider: 'mock', displayName: 'Mock', prompts, ...(sections && { sections }) });
  const trust = { isTrusted: async () => true, allows: async () => true, trust: async () => {} };
  const providerFolder = path.join(folder, 'files');
  const host = await createHost({
    log: new MemoryLog(),
    agents: [agent],
    tools: builtinTools(),
    trust,
    providerFolder,
  });
  const transports: Transport[] = [];
  const server = await startGatewayServer({
    port: options.port ?? 0,
    onConnection: (transport) => {
      transports.push(transport);
      host.connectProvider(transport, 'network');
    },
  });
  const { port } = server;
  const url = `ws://localhost:${port}`;
  host.gatewayAt({ url, port });
  const client = await connect({ transport: () => inProcess((end) => host.connect(end)), clientId: 'desk' });
  const open = async () =>
    client.open(await client.createSession({ provider: 'mock', workingDirectories: [pathToFileURL(folder).href] }));
  let isStopped = false;
  const stop = async () => {
    if (isStopped) return;
    isStopped = true;
    client.close();
    await host.stop();
    await server.close();
    await rm(folder, { recursive: true, force: true });
  };
  onTestFinished(stop);
  const session = await open();
  await until(session, ({ lifecycle }) => lifecycle === 'ready');
  return {
    host,
    url,
    folder,
    client,
    session,
    sessionId: session.uri.slice(session.uri.lastIndexOf('/') + 1),
    open,
    inProcess: () => inProcess((end) => host.connectProvider(end, 'in-process')),
    stop,
    say: (text) => say(session, text),
    cutConnections() {
      for (const transport of transports.splice(0)) transport.close(GOING_AWAY, 'cut');
    },
  };
}

/** A way into the host for those in the same process. */
function inProcess(connect: (end: Transport) => void) {
  const [hostEnd, clientEnd] = transportPair();
  clientEnd.pause();
  connect(hostEnd);
  return {
    send: (text: string) => clientEnd.send(text),
    close: () => clientEnd.close(),
    onMessage: (listener: (text: string) => void) => {
      clientEnd.onmessage = listener;
      clientEnd.resume();
    },
    onClose: (listener: (reason: CloseReason) => void) => {
      clientEnd.onclose = (_code, reason) => listener({ reason });
    },
  };
}

/** Somebody says something. */
export function turnStarted(turnId: string, text: string) {
  return { type: 'chat/turnStarted', turnId, message: { text, origin: { kind: 'user' } } } as const;
}

/** A turn, from what somebody says to its end. */
export async function say(session: OpenSession, text: string): Promise<Turn> {
  const turnId = crypto.randomUUID();
  await session.dispatch(turnStarted(turnId, text));
  const { turns } = await until(session, (state) => state.turns.some(({ id }) => id === turnId));
  const turn = turns.find(({ id }) => id === turnId);
  if (!turn) throw new Error('the turn is gone');
  return turn;
}

const PATIENCE_MS = 15_000;

/** A session with its conversation. */
export type Whole = SessionState & Pick<ChatState, 'turns' | 'activeTurn'>;

/** The first state for which something holds. */
export function until(open: OpenSession, holds: (state: Whole) => boolean): Promise<Whole> {
  return new Promise((resolve, reject) => {
    const look = ({ session, chat: { turns, activeTurn } }: OpenSessionState) => {
      const state: Whole = { ...session, turns, ...(activeTurn && { activeTurn }) };
      if (!holds(state)) return;
      clearTimeout(timer);
      off();
      resolve(state);
    };
    const timer = setTimeout(() => {
      off();
      reject(new Error(`waited in vain; the state is ${JSON.stringify(open.state).slice(0, 2_000)}`));
    }, PATIENCE_MS);
    const off = open.onChange(look);
    look(open.state);
  });
}

/** All that the agent wrote in a turn. */
export function textOf(turn: Turn): string {
  return turn.responseParts.flatMap((part) => (part.kind === 'markdown' ? [part.content] : [])).join('\n');
}

/** Waits until the session has a tool of this name. */
export async function untilTool(session: OpenSession, name: string): Promise<void> {
  await until(session, ({ serverTools = [] }) => serverTools.some((tool) => tool.name === name));
}
