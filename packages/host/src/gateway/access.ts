/** How a connection was let in, and which sessions are open to it. */
import { CONNECTIONS_MAX, GatewayErrorCode, type TrustLevel } from '@atrium/protocol/provider';
import { GatewayError } from './gateway-error.js';
import type { Room } from './room.js';

/** One pairing may serve several instances, but a stranger may not take all places from everybody else. */
export const CONNECTIONS_PER_PAIRING_MAX = CONNECTIONS_MAX / 2;

export interface Access {
  readonly trust: TrustLevel;
  /** The one session that is open to it; undefined means all of them. */
  readonly sessionId: string | undefined;
  /** The token it came with. A token serves one name, which the first `hello` settles. */
  readonly token: AccessToken | undefined;
}

export interface AccessToken {
  /** Tells this pairing, or this process, from every other. No secret. */
  readonly id: string;
  name: string | undefined;
}

export const INTERNAL_ACCESS: Access = { trust: 'internal', sessionId: undefined, token: undefined };

/** Throws when there is no place left for another connection of the same pairing. */
export function checkPlaces(access: Access, connections: Iterable<{ readonly access: Access | undefined }>): void {
  const others = [...connections].filter((other) => other.access === access).length;
  if (access.trust !== 'external' || others < CONNECTIONS_PER_PAIRING_MAX) return;
  const what = `at most ${CONNECTIONS_PER_PAIRING_MAX} connections of one pairing: close another one first`;
  throw new GatewayError(GatewayErrorCode.RateLimited, what);
}

export function isOpenTo({ sessionId }: Access, room: Room): boolean {
  return sessionId === undefined || sessionId === room.id;
}

/** The sessions that a connection is told of. Its own comes first, for providers that just take the first one. */
export function listFor(access: Access, rooms: readonly Room[]): Room[] {
  const own = rooms.filter((room) => isOpenTo(access, room));
  if (access.trust === 'project') return own;
  return [...own, ...rooms.filter((room) => !own.includes(room))];
}
