/** Opens the host to the network: the token first, then the port, then the note that tells local programs of it. */
import { networkInterfaces } from 'node:os';
import {
  announceInstance,
  type Host,
  type Logger,
  runningInstances,
  startServer,
  storeToken,
  TOKEN_ADVISED_CHARACTERS,
} from '@atrium/host';
import type { OpenDoor } from './door.js';
import { findPage } from './page.js';
import type { ServeSettings } from './settings.js';
import type { TokenChoice } from './token-choice.js';

export async function openNetwork(settings: ServeSettings, host: Host, logger: Logger): Promise<OpenDoor> {
  const { dataDir, token } = settings;
  warnIfShort(token, logger);
  const stored = await store(dataDir, token);
  try {
    return await open(settings, { host, logger, stored });
  } catch (error) {
    await stored?.forget();
    throw error;
  }
}

/** Where local programs find the token, and what becomes of the file when the host is gone. */
interface TokenPlace {
  readonly file: string;
  forget(): Promise<void>;
}

interface Parts {
  readonly host: Host;
  readonly logger: Logger;
  readonly stored: TokenPlace | undefined;
}

async function open(settings: ServeSettings, { host, logger, stored }: Parts): Promise<OpenDoor> {
  const { port: wanted, host: name, dataDir, token, policy } = settings;
  const onConnection = host.connect.bind(host);
  const page = await findPage(logger);
  const server = await startServer({ host: name, port: wanted, policy, logger, onConnection, ...(page && { page }) });
  const { port } = server;
  const url = urlOf(name, port);
  const tokenFile = token.kind === 'file' ? token.file : stored?.file;
  const startedAt = new Date().toISOString();
  // One folder has one host: looking through the notes of others clears those that were left behind.
  await runningInstances(dataDir);
  const retract = await announceInstance(dataDir, { pid: process.pid, host: name, port, url, startedAt, tokenFile });
  logger.log('info', 'listening', { addresses: server.addresses.join(','), port });
  return {
    ended: new Promise(() => {}),
    place: {
      at: 'network',
      ...{ port, url, tokenFile },
      fromElsewhere: isWildcard(name) ? machineAddresses().map((address) => urlOf(address, port)) : [],
      hasPage: page !== undefined,
    },
    stopAccepting: () => server.stopAccepting(),
    async close() {
      await server.close();
      await Promise.all([retract(), stored?.forget()]);
    },
  };
}

/**
 * A token in a file of the user's stays there; any other goes where local programs look for it. One that the host made
 * is kept for the next start; one that was given for this start goes with it.
 */
async function store(dataDir: string, token: TokenChoice): Promise<TokenPlace | undefined> {
  if (token.kind === 'none' || token.kind === 'file') return undefined;
  const { file, remove } = await storeToken(dataDir, token.text);
  return { file, forget: token.kind === 'generated' ? async () => {} : remove };
}

function warnIfShort(token: TokenChoice, logger: Logger): void {
  if (token.kind === 'none' || token.text.length >= TOKEN_ADVISED_CHARACTERS) return;
  logger.log('warn', 'the connection token is short and may be guessed', { advised: TOKEN_ADVISED_CHARACTERS });
}

function isWildcard(name: string): boolean {
  return ['0.0.0.0', '::', '[::]'].includes(name);
}

/** Those that people can type: the others need the name of an interface, or are for this machine alone. */
function machineAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((list = []) => list);
  return all.filter(({ internal, family }) => !internal && family === 'IPv4').map(({ address }) => address);
}

/** A wildcard is no address to connect to. */
function urlOf(name: string, port: number): string {
  if (isWildcard(name)) return `ws://localhost:${port}`;
  return `ws://${name.includes(':') && !name.startsWith('[') ? `[${name}]` : name}:${port}`;
}
