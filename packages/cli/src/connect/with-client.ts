/** Runs something with a client, and closes it whatever happens. */
import type { Client } from '@atrium/client';
import { tell } from '../output.js';
import { orRefused } from './connection-notes.js';
import type { HostOptions } from './options.js';

export async function withClient<T>(options: HostOptions, use: (client: Client) => Promise<T>): Promise<T> {
  const { reachHost } = await import('./reach.js');
  const client = await reachHost(options, { tell });
  try {
    return await orRefused(client, use(client));
  } finally {
    client.close();
  }
}
