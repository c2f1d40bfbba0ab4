/** Compares a requested access with that of the person who grants it: nobody can give more than they have. */
import path from 'node:path';
import { type Access, type Bounds, hasRole, isRole, type Role } from '@atrium/core/contracts/access.js';
import { RequestError } from '@atrium/core/contracts/request-error.js';
import { ErrorCode, ROLES } from '@atrium/protocol/ahp-1';
import type { Grant } from './credential-store.js';
import { BOUNDS_MAX } from './limits.js';

type Params = Readonly<Record<string, unknown>>;
type RequestedGrant = Omit<Grant, 'name' | 'leftOut'>;

const BOUNDS: ReadonlySet<string> = new Set<keyof Bounds>(['sessions', 'folders']);
const DEFAULT_ROLE: Role = 'driver';

/**
 * The access that a new device gets. Omitted members default to those of the caller, and the role to driver at most.
 */
export function grantIn(params: Params, giver: Access, now: number): RequestedGrant {
  const role = roleIn(params.role) ?? (hasRole(giver.role, DEFAULT_ROLE) ? DEFAULT_ROLE : giver.role);
  const bounds = boundsIn(params.bounds) ?? giver.bounds;
  const expiresAt = untilIn(params.until, now) ?? giver.until;
  return withinGranter({ role, ...(bounds && { bounds }), ...(expiresAt !== undefined && { expiresAt }) }, giver);
}

/** The new access of a device. Omitted members stay as they are, and null removes the bounds or the end. */
export function changedGrant(before: RequestedGrant, params: Params, giver: Access, now: number): RequestedGrant {
  const role = roleIn(params.role) ?? before.role;
  const bounds = changedBounds(before.bounds, params.bounds);
  const expiresAt = params.until === null ? undefined : (untilIn(params.until, now) ?? before.expiresAt);
  return withinGranter({ role, bounds, expiresAt }, giver);
}

/** Null removes a member; when none is left, nothing is bounded. */
function changedBounds(before: Bounds | undefined, change: unknown): Bounds | undefined {
  if (change === undefined) return before;
  if (change === null) return undefined;
  const isFit = typeof change === 'object' && Object.keys(change).every((name) => BOUNDS.has(name));
  if (!isFit) throw wrong('/bounds must be null, or an object with sessions or folders');
  const members = Object.entries({ ...before, ...change }).filter(([, value]) => value !== null && value !== undefined);
  return members.length === 0 ? undefined : boundsIn(Object.fromEntries(members));
}

function withinGranter(given: RequestedGrant, giver: Access): RequestedGrant {
  if (isWithin(given, giver)) return given;
  throw new RequestError(ErrorCode.PermissionDenied, 'you cannot give more than you have');
}

/** Whether a grant is at most the giver's access. */
export function isWithin({ role, bounds, expiresAt }: RequestedGrant, giver: Access): boolean {
  const isInTime = giver.until === undefined || (expiresAt !== undefined && expiresAt <= giver.until);
  return hasRole(giver.role, role) && isInTime && areWithin(bounds, giver.bounds);
}

function areWithin(given: Bounds | undefined, own: Bounds | undefined): boolean {
  if (own === undefined) return true;
  if (given === undefined) return false;
  const sessions = given.sessions?.every((uri) => own.sessions?.includes(uri)) ?? true;
  const folders = given.folders?.every((folder) => own.folders?.some((each) => isBelow(folder, each))) ?? true;
  return sessions && folders;
}

function isBelow(folder: string, top: string): boolean {
  const steps = path.relative(top, folder);
  return steps === '' || (!path.isAbsolute(steps) && steps.split(path.sep)[0] !== '..');
}

function roleIn(value: unknown): Role | undefined {
  if (value === undefined || isRole(value)) return value;
  throw wrong(`/role must be one of ${ROLES.join(', ')}`);
}

function boundsIn(value: unknown): Bounds | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'object' || value === null) throw wrong('/bounds must be an object');
  const { sessions, folders } = value as Record<keyof Bounds, unknown>;
  const bounds = { ...textsIn('sessions', sessions), ...textsIn('folders', folders) };
  if (!bounds.sessions && !bounds.folders) throw wrong('/bounds must name sessions or folders');
  const relative = bounds.folders?.find((folder) => !path.isAbsolute(folder));
  if (relative !== undefined) throw wrong('/bounds/folders must be absolute paths');
  return { ...bounds, ...(bounds.folders && { folders: bounds.folders.map((folder) => path.resolve(folder)) }) };
}

function textsIn(name: keyof Bounds, value: unknown): Bounds {
  if (value === undefined) return {};
  const isFit =
    Array.isArray(value) && value.length > 0 && value.every((text) => typeof text === 'string' && text !== '');
  if (!isFit || value.length > BOUNDS_MAX) throw wrong(`/bounds/${name} must be a list of 1 to ${BOUNDS_MAX} texts`);
  return { [name]: [...new Set<string>(value)] };
}

function untilIn(value: unknown, now: number): number | undefined {
  if (value === undefined) return undefined;
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  if (!Number.isFinite(time) || time <= now) throw wrong('/until must be a time to come, such as 2030-01-31T12:00:00Z');
  return time;
}

export function wrong(message: string): RequestError {
  return new RequestError(ErrorCode.InvalidParams, message);
}
