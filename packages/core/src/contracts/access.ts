/** Who is on a connection and what the host lets them do. Every connection has one at any moment; see `Connection.access`. */
import type { Bounds, LeftOut, Role } from '@atrium/protocol/ahp-1';

export { type Bounds, hasRole, isRole, LEFT_OUT, type LeftOut, ROLES, type Role } from '@atrium/protocol/ahp-1';

/** What somebody showed to be let in: the token of the data folder, that of a device, or that of a share. */
export interface Credential {
  readonly kind: 'connection' | 'device' | 'share';
  readonly id: string;
  /** As people know it: `Ada's phone`. */
  readonly name?: string | undefined;
}

export interface Access {
  readonly role: Role;
  /** Absent: everything. */
  readonly bounds?: Bounds | undefined;
  /** When it ends, in milliseconds since the epoch; absent: never. */
  readonly until?: number | undefined;
  /** What the host leaves out of everything that it sends; absent: nothing. */
  readonly leftOut?: readonly LeftOut[] | undefined;
  readonly credential: Credential;
}

/** The connection token of the data folder, or a transport of this machine that needs none. */
export const OWNER: Access = { role: 'owner', credential: { kind: 'connection', id: 'connection' } };
