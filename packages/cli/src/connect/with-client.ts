/**
 * Runs work with a client: closes the connection at the end, and tells the person when the host goes and comes back.
 */
import type { Client, LongRequestOptions, Status } from '@atrium/client';
import { visibleText } from '@atrium/protocol/ahp-1';
import { tell } from '../io.js';
import type { HostOptions } from './host-options.js';

export async function withClient<T>(options: HostOptions, use: (client: Client) => Promise<T>): Promise<T> {
  const { reachHost } = await import('./reach.js');
  const client = await reachHost(options, { tell });
  try {
    return await orRefused(client, use(client));
  } finally {
    client.close();
  }
}

export interface ConnectionWords {
  /** What happens while the host is gone. */
  readonly gone: string;
  /** What to do when the host does not let this client in any more. */
  readonly refused: string;
}

export function connectionNotes(note: (text: string) => void, words: ConnectionWords): (status: Status) => void {
  let was: 'open' | 'gone' | 'refused' = 'open';
  return (status) => {
    const refusal = refusalIn(status);
    if (status.at === 'open' && was !== 'open') note('The host is back.');
    if (refusal && was !== 'refused') note(`${refusal.message} ${words.refused}`);
    else if (status.at === 'waiting' && was === 'open') note(`The host is gone. ${words.gone}`);
    if (status.at === 'closed' && status.error) note(`The connection ended for good: ${status.error.message}`);
    if (status.at === 'open') was = 'open';
    if (status.at === 'waiting') was = refusal ? 'refused' : was === 'refused' ? was : 'gone';
  };
}

/**
 * Waits for work, but not for a host that came back with another token: that host refuses this client for ever, so the
 * work
 * would never end.
 */
export async function orRefused<T>(client: Client, work: Promise<T>): Promise<T> {
  let off: () => void = () => {};
  const refused = new Promise<never>((_, reject) => {
    off = client.onStatus((status) => {
      const refusal = refusalIn(status);
      if (refusal) reject(refusal);
    });
  });
  try {
    return await Promise.race([work, refused]);
  } finally {
    off();
  }
}

/** Compares names, as the command does with every error of the client library. */
function refusalIn(status: Status): Error | undefined {
  return status.at === 'waiting' && status.error.name === 'AccessRefusedError' ? status.error : undefined;
}

/** The features that only Atrium's hosts have, in words for people. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  'atrium/listDisposed': 'list removed sessions',
  'atrium/restoreSession': 'bring removed sessions back',
  'atrium/importSession': 'import sessions',
  'atrium/keepContent': 'import large results',
  'atrium/usage': 'tell what was used',
  'atrium/search': 'search its sessions',
  'atrium/chatTurns': 'show single turns',
  'atrium/pinSession': 'pin sessions',
  'atrium/board': 'show the board of a project',
  'atrium/instructions': 'list the instructions of a project',
  'atrium/compareBranches': 'compare branches',
  'atrium/branchAction': 'work with branches',
  'atrium/rewindPreview': 'go back in its sessions',
  'atrium/rewind': 'go back in its sessions',
  'atrium/undoRewind': 'go back in its sessions',
  'atrium/notifications': 'tell people who are not looking',
  'atrium/setReceiver': 'tell people who are not looking',
  'atrium/reach': 'be reached through tunnels',
  'atrium/devices': 'let devices in',
  'atrium/addDevice': 'let devices in',
  'atrium/changeDevice': 'let devices in',
  'atrium/removeDevice': 'let devices in',
  'atrium/rotateToken': 'replace its token',
  'atrium/releaseClient': 'release client ids',
  'atrium/pairings': 'let programs pair with its sessions',
  'atrium/declinePairing': 'let programs pair with its sessions',
};

/** The host does not have the feature, and asking again does not help. */
export class UnsupportedError extends Error {
  override readonly name = 'UnsupportedError';
}

/**
 * A request that Atrium adds to the protocol. If the host does not know it, tells the person what the host cannot do.
 */
export async function callExtension(client: Client, method: string, params: object = {}): Promise<unknown> {
  return supported(client, method, client.requestExtension(method, params));
}

/** The same for long work. */
export async function callLong(
  client: Client,
  method: string,
  params: object,
  options: LongRequestOptions,
): Promise<unknown> {
  return supported(client, method, client.requestLong(method, params, options));
}

async function supported(client: Client, method: string, answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'MethodNotFound') throw error;
    throw new UnsupportedError(`${hostName(client)} cannot ${EXTENSIONS[method] ?? `answer ${method}`}`);
  }
}

/** The name of the host for people. */
export function hostName({ host }: Client): string {
  const { serverInfo } = host;
  return serverInfo ? `this host (${visibleText(serverInfo.name, 'line')})` : 'this host';
}
