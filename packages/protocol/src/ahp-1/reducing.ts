/** What all reducers of 1.0 share. They have no clock: every time comes with an action. */

import { type UnknownAction, withElement, withMembers, withoutMember } from '../reducing.js';
import { ACTIVITY_MASK } from '../session/status.js';

/** Applies one type of action to a state. Returns the very same state when nothing changes. */
export type Handler<State, Action> = (state: State, action: Action) => State;

/** One handler for each type of action; a missing one does not compile. */
export type Handlers<State, Actions> = { readonly [Type in keyof Actions]: Handler<State, Actions[Type]> };

export type Reducer<State, Action> = Handler<State, Action | UnknownAction>;

/** Makes one reducer out of a table of handlers. An action of an unknown type changes nothing. */
export function reducerOf<State, Actions>(handlers: Handlers<State, Actions>): Reducer<State, Actions[keyof Actions]> {
  const byType = new Map<string, unknown>(Object.entries(handlers));
  return (state, action) => {
    const handler = byType.get((action as UnknownAction).type) as Handler<State, unknown> | undefined;
    return handler ? handler(state, action) : state;
  };
}

/** A copy with an optional member set, or removed when there is no value; the very same object when nothing changes. */
export function withOptional<T extends object, Key extends keyof T>(
  target: T,
  key: Key,
  value: T[Key] | null | undefined,
): T {
  if (value === undefined || value === null) return withoutMember(target, key) as T;
  return withMembers(target, { [key]: value } as unknown as Partial<T>);
}

/** The members that have a value. */
export function present<T extends object>(members: T): T {
  const shown = {} as T;
  for (const key of Object.keys(members) as (keyof T)[]) {
    const value = members[key];
    if (value !== undefined && value !== null) shown[key] = value;
  }
  return shown;
}

/** The list with an entry in place of the first one with the same key, or at its end. */
export function upserted<T>(list: T[], entry: T, keyOf: (entry: T) => string): T[] {
  const index = list.findIndex((other) => keyOf(other) === keyOf(entry));
  return index < 0 ? [...list, entry] : withElement(list, index, entry);
}

/** The list without its first entry with that key, or the very same list. */
export function without<T>(list: T[], key: string, keyOf: (entry: T) => string): T[] {
  const index = list.findIndex((entry) => keyOf(entry) === key);
  return index < 0 ? list : list.toSpliced(index, 1);
}

/**
 * Reorders a list: the named entries first, in the given order. Unknown and repeated names are skipped; the rest keep
 * their order.
 */
export function reordered<T extends object>(list: T[], order: readonly string[], keyOf: (entry: T) => string): T[] {
  // Reversed, so that the first of two entries with the same key wins.
  const byKey = new Map(list.toReversed().map((entry) => [keyOf(entry), entry]));
  const named = new Set(order.flatMap((key) => byKey.get(key) ?? []));
  const rest = list.filter((entry) => !named.has(entry));
  return sameWhenEqual(list, [...named, ...rest]);
}

/** The old list when the new one has the very same entries. */
export function sameWhenEqual<T>(before: T[], after: T[]): T[] {
  const isEqual = before.length === after.length && after.every((entry, index) => entry === before[index]);
  return isEqual ? before : after;
}

/** Status bits with another activity; the flags above it stay. */
export function withActivity(status: number, activity: number): number {
  return (status & ~ACTIVITY_MASK) | activity;
}

/** Status bits with one flag set or cleared. */
export function withFlag(status: number, flag: number, on: boolean): number {
  return on ? status | flag : status & ~flag;
}

interface HasWorkingDirectories {
  workingDirectories?: string[];
}

/** Adds a working directory. */
export function withDirectory<State extends HasWorkingDirectories>(state: State, directory: string): State {
  const directories = state.workingDirectories ?? [];
  return directories.includes(directory) ? state : { ...state, workingDirectories: [...directories, directory] };
}

/** Removes a working directory. An empty list stays: an absent one would mean that nothing is known. */
export function withoutDirectory<State extends HasWorkingDirectories>(state: State, directory: string): State {
  const { workingDirectories } = state;
  if (!workingDirectories?.includes(directory)) return state;
  return { ...state, workingDirectories: workingDirectories.filter((other) => other !== directory) };
}
