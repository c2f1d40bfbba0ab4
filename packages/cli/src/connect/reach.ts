/** Connects to a host: the running one, the one that `--url` names, or a new one. */

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import {
  type Client,
  type ClientOptions,
  connect,
  type Transport,
  type TransportFactory,
  type WebSocketOptions,
  webSocketTransport,
} from '@atrium/client';
import { dataFolderFrom } from '../data-folder.js';
import { UsageError } from '../exit.js';
import { io } from '../io.js';
import { version } from '../places.js';
import { findHost } from '../service/running-host.js';
import { startHost } from '../service/start-host.js';
import { deviceTokenFor } from './become-device.js';
import type { HostOptions } from './host-options.js';
import { isSshAddress, parseSshAddress, sshTransport } from './ssh.js';

/** The URL of a host and its token. */
interface HostAddress {
  readonly url: string;
  readonly token: string | undefined;
  /** The certificate that a host of this machine has to show. */
  readonly certificate?: string | undefined;
  /** Whether this process started it. */
  readonly isNew?: boolean;
}

interface ReachOptions extends Partial<ClientOptions> {
  /** Gets progress messages: starting a host takes a second. */
  readonly tell?: (text: string) => void;
}

/** A start takes a second or two; on a busy machine, or with a large log, more. */
const SLOW_START_MS = 5_000;
/** A host may stop while we connect to it, and so may the one that we start instead. */
const FIRST_ATTEMPTS_MAX = 3;

/**
 * Looks for the host before each attempt to connect, since a restarted host may have another address and token. If this
 * process
 * started the host, it starts it again when it is gone; otherwise it waits for the host. When a host refuses us, this
 * process
 * starts another one if the first has stopped meanwhile; a host that still runs meant the refusal.
 */
export async function reachHost(options: HostOptions, reach: ReachOptions = {}): Promise<Client> {
  const { tell = () => {}, ...clientOptions } = reach;
  for (let left = FIRST_ATTEMPTS_MAX; ; left -= 1) {
    if (options.url !== undefined && isSshAddress(options.url)) return reachOverSsh(options, clientOptions);
    // Before the connection: the start of a host must not count towards the time limit of an answer.
    const address = await findAddress(options, tell);
    try {
      return await connect({
        log: () => {},
        clientInfo: { name: 'atrium-command', version: version() },
        ...clientOptions,
        transport: transportTo(address, options),
      });
    } catch (error) {
      const isFinal = left === 1 || !options.start || options.url !== undefined;
      if (isFinal || (await findHost(dataFolderFrom(options.dataDir, io().env)))) throw error;
    }
  }
}

/** The first attempt may ask for a password; later ones must be silent, because a chat may have the screen. */
async function reachOverSsh(options: HostOptions, clientOptions: Partial<ClientOptions>): Promise<Client> {
  const address = parseSshAddress(options.url ?? '');
  const { remoteAtrium: remoteCommand = 'atrium' } = options;
  let isSilent = false;
  return connect({
    log: () => {},
    clientInfo: { name: 'atrium-command', version: version() },
    ...clientOptions,
    transport: async () => {
      const opened = await sshTransport(address, { remoteCommand, isSilent });
      isSilent = true;
      return opened;
    },
  });
}

/** The first connection goes to `address`; later ones look for the host again, silently: a chat may have the screen. */
function transportTo(address: HostAddress, options: HostOptions): TransportFactory {
  let first: HostAddress | undefined = address;
  const again = { ...options, start: options.start && address.isNew === true };
  return async () => {
    const next = first ?? (await findAddress(again));
    first = undefined;
    return options.url === undefined ? webSocketTransport(tokened(next))() : dialNamed(next);
  };
}

/** Hosts of others may accept the token only in the address. Ours accepts a header, which no proxy logs. */
async function dialNamed(address: HostAddress): Promise<Transport> {
  try {
    return await webSocketTransport(tokened(address))();
  } catch (error) {
    const { url, token } = address;
    const isRefused = error instanceof Error && error.name === 'AccessRefusedError';
    if (!isRefused || token === undefined || new URL(url).search !== '') throw error;
    const inside = new URL(url);
    inside.searchParams.set('tkn', token);
    return webSocketTransport({ url: inside.href })();
  }
}

export function tokened({ url, token, certificate }: HostAddress): WebSocketOptions {
  return { url, ...(token !== undefined && { token }), ...(certificate !== undefined && { certificate }) };
}

export async function findAddress(options: HostOptions, tell: (text: string) => void = () => {}): Promise<HostAddress> {
  if (options.url !== undefined) return namedAddress(options.url, options);
  const dataDir = dataFolderFrom(options.dataDir, io().env);
  const found = await findHost(dataDir);
  if (found?.tokenProblem !== undefined) throw new Error(found.tokenProblem);
  if (found) return { url: found.instance.url, token: found.token, certificate: found.certificate };
  if (!options.start) throw new Error('no host is running. Start one with: atrium service start');
  tell('Starting a host…');
  const slow = setTimeout(() => tell(`It takes long. What it says: ${path.join(dataDir, 'host.log')}`), SLOW_START_MS);
  try {
    const { instance, token, certificate } = await startHost(dataDir, onDemand(io().env));
    return { url: instance.url, token, certificate, isNew: true };
  } finally {
    clearTimeout(slow);
  }
}

/** Commands may start several hosts, one per data folder, which cannot all have the usual port. */
function onDemand(env: NodeJS.ProcessEnv): string[] {
  return ['--exit-when-idle', ...(env.ATRIUM_PORT ? [] : ['--port', '0'])];
}

/** The link to the web page, as the host prints it, holds the token in its fragment. */
async function namedAddress(text: string, { tokenFile, token: given, dataDir }: HostOptions): Promise<HostAddress> {
  const [address = '', inLink] = text.split('#token=');
  const url = wsUrl(address);
  if (given !== undefined) return { url, token: given };
  if (tokenFile === undefined) {
    // The address itself has a token.
    const isInside = ['tkn', 'token'].some((name) => new URL(url).searchParams.has(name));
    if (isInside) return { url, token: undefined };
    return {
      url,
      token: inLink || io().env.ATRIUM_TOKEN || (await deviceTokenFor(url, dataFolderFrom(dataDir, io().env))),
    };
  }
  const own = await readFile(tokenFile, 'utf8').catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${error.code})`;
    throw new UsageError(`--token-file: ${tokenFile}: ${why}`);
  });
  return { url, token: own.trim() };
}

function wsUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const scheme = url?.protocol.replace(/^http/, 'ws');
  if (url && (scheme === 'ws:' || scheme === 'wss:')) return url.href.replace(url.protocol, scheme);
  throw new UsageError(`--url: "${text}" is no address of a host. Write it as ws://localhost:9300`);
}
