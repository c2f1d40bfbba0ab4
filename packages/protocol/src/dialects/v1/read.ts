/** Reading members of what a client sent. */
import type { Params } from '../dialect.js';

export function isObject(value: unknown): value is Params {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** On the wire, null is another word for absent. */
export function withoutNulls(params: Params): Params {
  return Object.fromEntries(Object.entries(params).filter(([, member]) => member !== null));
}

export function isStringList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** A count or an index; undefined counts as one that was not given. */
export function isIndex(value: unknown): value is number | undefined {
  return value === undefined || (Number.isSafeInteger(value) && (value as number) >= 0);
}
