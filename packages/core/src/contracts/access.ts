/**
 * What the host lets a connection do, and for whom. Every connection has exactly one access at any moment; see
 * `Connection.access`.
 */
import type { Bounds, LeftOut, Role } from '@atrium/protocol/ahp-1';

export { type Bounds, hasRole, isRole, LEFT_OUT, type LeftOut, ROLES, type Role } from '@atrium/protocol/ahp-1';

/** What a client presented to be let in: the token of the data folder, of a device, or of a share. */
export interface Credential {
  readonly kind: 'connection' | 'device' | 'share';
  readonly id: string;
  /** The name that people know: `Ada's phone`. */
  readonly name?: string | undefined;
}

export interface Access {
  readonly role: Role;
  /** Absent: no bounds. */
  readonly bounds?: Bounds | undefined;
  /** When the access ends, in milliseconds since the epoch; absent: never. */
  readonly until?: number | undefined;
  /** What the host leaves out of everything it sends; absent: nothing. */
  readonly leftOut?: readonly LeftOut[] | undefined;
  readonly credential: Credential;
}

/** Access with the connection token of the data folder, or over a local transport that needs no token. */
export const OWNER: Access = { role: 'owner', credential: { kind: 'connection', id: 'connection' } };
