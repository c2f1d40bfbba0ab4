/** What only hosts of our own kind can do: the page hides it elsewhere. */
import type { Client } from '@atrium/client';
import { ACCESS_MEMBER, hasRole, type Role, type ToldAccess } from '@atrium/protocol/ahp-1';

/** Deleted sessions that come back, pairing, a session that begins as a copy of another. */
export function isAtrium({ host }: Pick<Client, 'host'>): boolean {
  return host.serverInfo?.name === 'atrium';
}

/** What this page may do; undefined for the owner, who may do everything. The host enforces it: the page only hides what is of no use. */
export function accessOf({ host }: Pick<Client, 'host'>): ToldAccess | undefined {
  return (host as unknown as Readonly<Record<string, unknown>>)[ACCESS_MEMBER] as ToldAccess | undefined;
}

export function mayAct(client: Pick<Client, 'host'>, least: Role): boolean {
  return hasRole(accessOf(client)?.role ?? 'owner', least);
}
