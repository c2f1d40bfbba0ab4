/** Reaches a host: the one that runs, the one that was named, or one that is started for the purpose. */
import { readFile } from 'node:fs/promises';
import { type Client, type ClientOptions, connect, webSocketTransport } from '@atrium/client';
import { dataFolderFrom } from '../data-place.js';
import { UsageError } from '../exit.js';
import { findHost } from '../service/running-host.js';
import { startHost } from '../service/start-host.js';
import type { HostOptions } from './options.js';

/** Where a host is, and what it wants to see. */
export interface Place {
  readonly url: string;
  readonly token: string | undefined;
  /** Whether this process started it. */
  readonly isNew?: boolean;
}

export interface ReachOptions extends Partial<ClientOptions> {
  /** Told what is done meanwhile: starting a host takes a second. */
  readonly tell?: (text: string) => void;
}

/** A host may stop while we are on our way to it, and so may the one that was started instead. */
const FIRST_ATTEMPTS_MAX = 3;

/**
 * Looks for the host before each attempt to connect, since one that was started again is elsewhere and has a new token.
 * A host that this process had to start is started again when it is gone; somebody else's is waited for.
 */
export async function reachHost(options: HostOptions, reach: ReachOptions = {}): Promise<Client> {
  const { tell = () => {}, ...clientOptions } = reach;
  let mayStart = options.start;
  let isOurs = false;
  let isConnected = false;
  let noPlace: unknown;
  const transport = async () => {
    // Later on, somebody else has the screen.
    const place = await findPlace({ ...options, start: mayStart }, isConnected ? () => {} : tell).catch((error) => {
      noPlace = error;
      throw error;
    });
    if (!isConnected) isOurs = place.isNew ?? false;
    return webSocketTransport(tokened(place))();
  };
  const dial = () => connect({ log: () => {}, ...clientOptions, transport });
  const client = await firstConnection(options, dial, (error) => error === noPlace);
  isConnected = true;
  mayStart = isOurs;
  return client;
}

/**
 * One that turned us away because it was about to stop is replaced by another; one that is still there meant it. Where
 * none could be found or started, that is the end.
 */
async function firstConnection(
  options: HostOptions,
  dial: () => Promise<Client>,
  isEnd: (error: unknown) => boolean,
): Promise<Client> {
  for (let left = FIRST_ATTEMPTS_MAX; ; left -= 1) {
    try {
      return await dial();
    } catch (error) {
      const isFinal = left === 1 || isEnd(error) || !options.start || options.url !== undefined;
      if (isFinal || (await findHost(dataFolderFrom(options.dataDir, process.env)))) throw error;
    }
  }
}

function tokened({ url, token }: Place): { url: string; token?: string } {
  return token === undefined ? { url } : { url, token };
}

export async function findPlace(options: HostOptions, tell: (text: string) => void = () => {}): Promise<Place> {
  if (options.url !== undefined) return namedPlace(options.url, options.tokenFile);
  const dataDir = dataFolderFrom(options.dataDir, process.env);
  const found = await findHost(dataDir);
  if (found?.tokenProblem !== undefined) throw new Error(found.tokenProblem);
  if (found) return { url: found.instance.url, token: found.token };
  if (!options.start) throw new Error('no host is running. Start one with: atrium service start');
  tell('Starting a host…');
  const { instance, token } = await startHost(dataDir, onDemand(process.env));
  return { url: instance.url, token, isNew: true };
}

/** Several hosts may be started on demand, one per data folder: they cannot all have the usual port. */
function onDemand(env: NodeJS.ProcessEnv): string[] {
  return ['--exit-when-idle', ...(env.ATRIUM_PORT ? [] : ['--port', '0'])];
}

/** The link to the web page, as the host prints it, holds the token behind a mark. */
async function namedPlace(text: string, tokenFile: string | undefined): Promise<Place> {
  const [address = '', token] = text.split('#token=');
  const url = wsUrl(address);
  if (tokenFile === undefined) return { url, token: token || process.env.ATRIUM_TOKEN || undefined };
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
