/** What a credential lets its holder do: a role, perhaps within bounds. The host enforces it; clients show it. */

/** From the least to the most. Each may do what those before it may. */
export const ROLES = ['viewer', 'approver', 'driver', 'owner'] as const;
export type Role = (typeof ROLES)[number];

/** Where a role holds. A member that is absent bounds nothing; a session that fits one of them is within. */
export interface Bounds {
  /** URIs of sessions. */
  readonly sessions?: readonly string[] | undefined;
  /** Folders as absolute paths: sessions that work in one of them or below. */
  readonly folders?: readonly string[] | undefined;
}

/** What the maker of a share may leave out of it. */
export const LEFT_OUT = ['toolInput', 'toolOutput', 'fileContents', 'reasoning', 'attachments', 'folders'] as const;
export type LeftOut = (typeof LEFT_OUT)[number];

/** Who answered an approval, by the name of the credential; a member of the `_meta` of the call or of the answer. */
export const ANSWERED_BY = 'atrium.answeredBy';

/** The member of the answer to `initialize` in which the host tells a client that is not the owner what it may do. */
export const ACCESS_MEMBER = 'atrium/access';

export interface ToldAccess {
  readonly role: Role;
  readonly kind: 'connection' | 'device' | 'share';
  readonly name?: string;
  readonly isBounded: boolean;
  /** Milliseconds since the epoch. */
  readonly until?: number;
  readonly leftOut?: readonly LeftOut[];
}

export function isRole(value: unknown): value is Role {
  return ROLES.some((role) => role === value);
}

export function hasRole(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}
