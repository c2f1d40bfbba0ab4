/** Names of sessions as people type them: a whole URI, an id, or the beginning of one. */
import type { SessionSummary } from '@atrium/protocol';
import { NoSessionError, UsageError } from '../exit.js';

const SCHEME = 'ahp-session:/';
const SHORT_CHARACTERS = 8;

/** The part of a URI that is worth typing. */
export function idOf(uri: string): string {
  return uri.startsWith(SCHEME) ? uri.slice(SCHEME.length) : uri;
}

/** Enough of it to tell sessions apart, for tables. */
export function shortId(uri: string): string {
  const id = idOf(uri);
  return /^[\da-f]{8}[\da-f-]{24,}$/.test(id) ? id.slice(0, SHORT_CHARACTERS) : id;
}

export function newestFirst(items: readonly SessionSummary[]): SessionSummary[] {
  return [...items].sort((a, b) => b.modifiedAt - a.modifiedAt);
}

/** The one session that is meant. `last` is the one that changed last. */
export function findSession(items: readonly SessionSummary[], reference: string): SessionSummary {
  const exact = items.find(({ resource }) => resource === reference || idOf(resource) === reference);
  if (exact) return exact;
  const [newest] = newestFirst(items);
  if (reference === 'last' && newest) return newest;
  const [first, ...more] = items.filter(({ resource }) => idOf(resource).startsWith(reference) && reference !== '');
  if (first && more.length > 0)
    throw new UsageError(`${more.length + 1} sessions begin with "${reference}": type more`);
  if (!first) throw new NoSessionError(`there is no session "${reference}"`);
  return first;
}

/** The URI behind a name that need not be listed any more, such as that of a disposed session. */
export function uriOf(reference: string): string {
  return reference.includes(':') ? reference : SCHEME + reference;
}
