/** Work with a client: the connection is closed at the end, and the person hears when the host goes and comes back. */
import type { CallMethod, CallParams, Client, Status } from '@atrium/client';
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
 * Waits for work, but not for a host that came back with another token: it refuses this client for ever, and
 * the work would never end.
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

/** By name, as the command does with every error of the client library. */
function refusalIn(status: Status): Error | undefined {
  return status.at === 'waiting' && status.error.name === 'AccessRefusedError' ? status.error : undefined;
}

export function callRaw(client: Client, method: string, params: object): Promise<unknown> {
  return client.request(method as CallMethod, params as CallParams<CallMethod>);
}
