/** Features that only Atrium's hosts have: the page hides them elsewhere. */
import type { Client } from '@atrium/client';
import { ACCESS_MEMBER, CLUSTER_MEMBER, type ClientAccess, hasRole, type Role } from '@atrium/protocol/ahp-1';

/** True for hosts that restore deleted sessions, pair providers, and begin a session as a copy of another. */
export function isAtrium({ host }: Pick<Client, 'host'>): boolean {
  return host.serverInfo?.name === 'atrium';
}

/**
 * What this page may do; undefined for the owner, who may do everything. The host enforces it; the page only hides
 * useless buttons.
 */
export function accessOf({ host }: Pick<Client, 'host'>): ClientAccess | undefined {
  return (host as unknown as Readonly<Record<string, unknown>>)[ACCESS_MEMBER] as ClientAccess | undefined;
}

/** The cluster of the host, which only its owner is told of. */
export function clusterOf({ host }: Pick<Client, 'host'>): { readonly host: string } | undefined {
  return (host as unknown as Readonly<Record<string, unknown>>)[CLUSTER_MEMBER] as { host: string } | undefined;
}

export function canAct(client: Pick<Client, 'host'>, least: Role): boolean {
  return hasRole(accessOf(client)?.role ?? 'owner', least);
}
