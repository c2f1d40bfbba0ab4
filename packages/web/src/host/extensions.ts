/** What only hosts of our own kind can do: the page hides it elsewhere. */
import type { Client } from '@atrium/client';

/** Deleted sessions that come back, pairing, a session that begins as a copy of another. */
export function isAtrium({ host }: Pick<Client, 'host'>): boolean {
  return host.serverInfo?.name === 'atrium';
}
