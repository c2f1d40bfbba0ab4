/** How a connection was let in, and which sessions are open to it. */
import type { TrustLevel } from '@atrium/protocol/provider';
import type { Room } from './room.js';

export interface Access {
  readonly trust: TrustLevel;
  /** The one session that is open to it; undefined means all of them. */
  readonly sessionId: string | undefined;
  /** The token it came with. A token serves one name, which the first `hello` settles. */
  readonly token: AccessToken | undefined;
}

export interface AccessToken {
  name: string | undefined;
}

export const INTERNAL_ACCESS: Access = { trust: 'internal', sessionId: undefined, token: undefined };

export function isOpenTo({ sessionId }: Access, room: Room): boolean {
  return sessionId === undefined || sessionId === room.id;
}

/** The sessions that a connection is told of. Its own comes first, for providers that just take the first one. */
export function listFor(access: Access, rooms: readonly Room[]): Room[] {
  const own = rooms.filter((room) => isOpenTo(access, room));
  if (access.trust === 'project') return own;
  return [...own, ...rooms.filter((room) => !own.includes(room))];
}
