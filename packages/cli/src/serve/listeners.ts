/** Opens the host to clients, over the network or over standard input and output, and to providers. */
import { networkInterfaces } from 'node:os';
import {
  announceInstance,
  type GatewayServer,
  type Health,
  type Host,
  isInsecure,
  type Logger,
  newToken,
  type RotatedToken,
  type RunningServer,
  runningInstances,
  startGatewayServer,
  startServer,
  stdioTransport,
  storeToken,
  TOKEN_ADVISED_CHARACTERS,
  type Transport,
} from '@atrium/host';
import { io } from '../io.js';
import type { ServeSettings, TokenChoice } from './settings.js';
import { findPage } from './start-screen.js';

export interface Listener {
  /** Resolves with a reason when the last client is gone; never if new clients may come. */
  readonly ended: Promise<string>;
  /** The address, for people and programs. */
  readonly address: ListenAddress;
  /** The port that takes clients which other hosts of a cluster pass on; absent where there is no port. */
  readonly relays?: Pick<RunningServer, 'isAccepting' | 'takeRelayed'>;
  /** Accepts no further clients. */
  stopAccepting(): void;
  close(): Promise<void>;
}

type ListenAddress =
  | {
      readonly at: 'network';
      readonly port: number;
      readonly url: string;
      /** URLs for other machines, if they may connect. */
      readonly fromElsewhere: readonly string[];
      readonly tokenFile: string | undefined;
      readonly hasPage: boolean;
    }
  | { readonly at: 'stdio' };

// The network: first the token, then the port, then the instance file by which local programs find it.

export async function openNetwork(
  settings: ServeSettings,
  host: Host,
  logger: Logger,
  health?: () => Health,
): Promise<Listener> {
  const { dataDir, token } = settings;
  warnIfShort(token, logger);
  const stored = await store(dataDir, token);
  try {
    return await open(settings, { host, logger, stored, health });
  } catch (error) {
    await stored?.forget();
    throw error;
  }
}

/** The file in which local programs find the token, and its removal when the host ends. */
interface StoredToken {
  readonly file: string;
  forget(): Promise<void>;
}

interface ListenOptions {
  readonly host: Host;
  readonly logger: Logger;
  readonly stored: StoredToken | undefined;
  readonly health: (() => Health) | undefined;
}

async function open(settings: ServeSettings, { host, logger, stored, health }: ListenOptions): Promise<Listener> {
  const { port: wanted, host: name, dataDir, token, policy, tls, behindProxy, maxClients } = settings;
  const onConnection = host.connect.bind(host);
  const page = await findPage(logger, { isInsecure: isInsecure(name, tls !== undefined) });
  const access = { policy, tls, behindProxy };
  const server = await startServer({
    host: name,
    port: wanted,
    ...access,
    logger,
    onConnection,
    tunnels: host.tunnels,
    devices: host.devices,
    ...(maxClients !== undefined && { limits: { clients: maxClients } }),
    ...(health && { health }),
    ...(page && { page }),
  });
  const { port } = server;
  const scheme = tls ? 'wss' : 'ws';
  const url = urlOf(scheme, name, port);
  const tokenFile = token.kind === 'file' ? token.file : stored?.file;
  const startedAt = new Date().toISOString();
  // One folder has one host: listing the running hosts removes the files of dead ones.
  await runningInstances(dataDir);
  const files = { tokenFile, ...(tls && { certificateFile: tls.cert }) };
  const retract = await announceInstance(dataDir, { pid: process.pid, host: name, port, url, startedAt, ...files });
  const fromElsewhere = isWildcard(name) ? machineAddresses().map((address) => urlOf(scheme, address, port)) : [];
  await host.devices.reachedAt({
    addresses: () => [...host.tunnels.origins, ...[...fromElsewhere, url].map((each) => each.replace(/^ws/, 'http'))],
    isPrivate: !isInsecure(name, tls !== undefined),
    ...(token.kind !== 'none' && {
      connectionToken: token.text,
      rotateToken: () => rotate(dataDir, token, server),
    }),
  });
  logger.log('info', 'listening', { addresses: server.addresses.join(','), port });
  return {
    ended: new Promise(() => {}),
    address: {
      at: 'network',
      ...{ port, url, tokenFile },
      fromElsewhere,
      hasPage: page !== undefined,
    },
    relays: server,
    stopAccepting: () => server.stopAccepting(),
    async close() {
      await server.close();
      await Promise.all([retract(), stored?.forget()]);
    },
  };
}

/**
 * A token in the user's own file stays there; any other goes into the file where local programs look for it. A token
 * that the
 * host made stays for the next start; one that the user gave for this start is removed at its end.
 */
async function store(dataDir: string, token: TokenChoice): Promise<StoredToken | undefined> {
  if (token.kind === 'none' || token.kind === 'file') return undefined;
  const { file, remove } = await storeToken(dataDir, token.text);
  return { file, forget: token.kind === 'generated' ? async () => {} : remove };
}

/** The host may replace only a token that it made. */
async function rotate(dataDir: string, token: TokenChoice, server: RunningServer): Promise<RotatedToken> {
  if (token.kind === 'file')
    throw new Error(`the connection token stands in ${token.file}: change it there, then start the host again`);
  if (token.kind !== 'generated')
    throw new Error('the connection token was given on the command line: start the host with another one');
  const text = newToken();
  await storeToken(dataDir, text);
  return { token: text, closing: server.changeToken(text) };
}

function warnIfShort(token: TokenChoice, logger: Logger): void {
  if (token.kind === 'none' || token.text.length >= TOKEN_ADVISED_CHARACTERS) return;
  logger.log('warn', 'the connection token is short and may be guessed', { advised: TOKEN_ADVISED_CHARACTERS });
}

function isWildcard(name: string): boolean {
  return ['0.0.0.0', '::', '[::]'].includes(name);
}

/** IPv4 only: link-local IPv6 addresses need the name of an interface, and people cannot type them. */
function machineAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((list = []) => list);
  return all.filter(({ internal, family }) => !internal && family === 'IPv4').map(({ address }) => address);
}

/** The URL to connect to; a wildcard address becomes `localhost`. */
function urlOf(scheme: 'ws' | 'wss', name: string, port: number): string {
  if (isWildcard(name)) return `${scheme}://localhost:${port}`;
  return `${scheme}://${name.includes(':') && !name.startsWith('[') ? `[${name}]` : name}:${port}`;
}

// One client on standard input and output; the host ends when it is gone.

export function openStdio(host: Host, logger: Logger): Listener {
  const { transport, ended } = watched(stdioTransport({ input: io().stdin, output: io().stdout, logger }));
  host.connect(transport);
  return {
    ended,
    address: { at: 'stdio' },
    stopAccepting: () => {},
    close: async () => {
      io().stdin.destroy();
    },
  };
}

/** Passes a transport through to the host, and notices its end. */
function watched(inner: Transport): { transport: Transport; ended: Promise<string> } {
  let end: (reason: string) => void = () => {};
  const ended = new Promise<string>((resolve) => {
    end = resolve;
  });
  const transport: Transport = {
    name: inner.name,
    start(events) {
      const closed = (): void => {
        events.closed();
        end('the client is gone');
      };
      inner.start({ ...events, closed });
    },
    send: (frames) => inner.send(frames),
    ...(inner.sendPart && { sendPart: (part) => inner.sendPart?.(part) }),
    pause: () => inner.pause?.(),
    resume: () => inner.resume?.(),
    get bufferedBytes() {
      return inner.bufferedBytes;
    },
    close: (code, reason) => inner.close(code, reason),
  };
  return { transport, ended };
}

// Providers. The host runs without them if the default port is taken, but not if the user named the port.

export interface OpenGateway {
  readonly url: string;
  close(): Promise<void>;
}

export async function openGateway(
  { gateway }: ServeSettings,
  host: Host,
  logger: Logger,
): Promise<OpenGateway | undefined> {
  if (!gateway) return undefined;
  const server = await listen(gateway.port, host).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error;
    if (gateway.isNamed) throw new Error(`port ${gateway.port} for providers is taken: use --gateway-port 0 for any`);
    const hint = 'another host has it; for a port of its own: --gateway-port 0';
    logger.log('warn', `no provider can connect: port ${gateway.port} is taken`, { hint });
  });
  if (!server) return undefined;
  const url = `ws://localhost:${server.port}`;
  host.gatewayAt({ url, port: server.port });
  logger.log('info', 'listening for providers', { port: server.port });
  return { url, close: () => server.close() };
}

/** Providers connect from this machine only, even if clients may come from others. */
function listen(port: number, host: Host): Promise<GatewayServer> {
  return startGatewayServer({ port, onConnection: (transport) => host.connectProvider(transport, 'network') });
}
