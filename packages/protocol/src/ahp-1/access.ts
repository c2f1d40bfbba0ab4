/** What a credential allows: a role, possibly within bounds. The host enforces it; clients show it. */

/** From the least to the most. Each role includes those before it. */
export const ROLES = ['viewer', 'approver', 'driver', 'owner'] as const;
export type Role = (typeof ROLES)[number];

/** Where a role applies. An absent member sets no bounds; a session that matches one member is within the bounds. */
export interface Bounds {
  /** URIs of sessions. */
  readonly sessions?: readonly string[] | undefined;
  /** Absolute paths of folders: sessions that work in one of them or below it. */
  readonly folders?: readonly string[] | undefined;
}

/** What the maker of a share may leave out of it. */
export const LEFT_OUT = ['toolInput', 'toolOutput', 'fileContents', 'reasoning', 'attachments', 'folders'] as const;
export type LeftOut = (typeof LEFT_OUT)[number];

/** Member of the `_meta` of a call or of its answer: who answered an approval, by the name of the credential. */
export const ANSWERED_BY = 'atrium.answeredBy';

/** The member of the `initialize` result that tells a client other than the owner what it may do. */
export const ACCESS_MEMBER = 'atrium/access';

export interface ClientAccess {
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
