/** Finds sessions by what people type: a whole URI, an id, the beginning of one, or `last`. */
import type { Client } from '@atrium/client';
import { type FolderProjects, PROJECTS_METHOD, type SessionState, type SessionSummary } from '@atrium/protocol/ahp-1';
import { callExtension } from '../connect/with-client.js';
import { NoSessionError, UsageError } from '../exit.js';
import { printable } from '../text/printable.js';
import { ago, placeText } from './summary-text.js';

const SCHEME = 'ahp-session:/';
const SHORT_CHARACTERS = 8;

/** The last part of a URI: hosts of others name sessions in schemes of their own. */
export function idOf(uri: string): string {
  return uri.replace(/^[a-z][a-z\d+.-]*:\/+(?=.)/i, '');
}

/** Enough of the id to tell sessions apart in tables. */
export function shortId(uri: string): string {
  const id = idOf(uri);
  return /^[\da-f]{8}[\da-f-]{24,}$/.test(id) ? id.slice(0, SHORT_CHARACTERS) : id;
}

export function newestFirst(items: readonly SessionSummary[]): SessionSummary[] {
  return [...items].sort((a, b) => timeOf(b) - timeOf(a));
}

function timeOf({ modifiedAt }: SessionSummary): number {
  return Date.parse(modifiedAt) || 0;
}

/** Finds the one session that fits. `last` is the one that changed last. */
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

/** The URI behind a name that may no longer be listed, such as that of a disposed session. */
export function uriOf(reference: string): string {
  return reference.includes(':') ? reference : SCHEME + reference;
}

/** Subscribing loads a session into the host's memory; older ones rarely have providers. */
const LOOK_MAX_SESSIONS = 50;

export interface ReadSession {
  readonly uri: string;
  readonly state: SessionState;
}

/** The named session, or the newest ones. */
export async function readSessions(client: Client, name: string | undefined): Promise<ReadSession[]> {
  const items = await client.listSessions();
  const chosen = name === undefined ? newestFirst(items).slice(0, LOOK_MAX_SESSIONS) : [findSession(items, name)];
  return Promise.all(
    chosen.map(async ({ resource }) => {
      const session = await client.subscribe(resource, { kind: 'session' });
      const { state } = session;
      session.close();
      return { uri: resource, state };
    }),
  );
}

/** The project of each folder; hosts of others do not say. */
export async function projectsOf(client: Client): Promise<FolderProjects> {
  const answer = await client.requestExtension(PROJECTS_METHOD).catch(() => undefined);
  return (answer as { readonly folders?: FolderProjects } | undefined)?.folders ?? {};
}

// Removed sessions that the host can still restore.

interface RemovedSession {
  readonly summary: SessionSummary;
  /** In milliseconds since the epoch. */
  readonly disposedAt: number;
}

/** The last removed come first. */
export async function removedSessions(client: Client): Promise<RemovedSession[]> {
  const { items } = (await callExtension(client, 'atrium/listDisposed')) as { items: RemovedSession[] };
  return items.toSorted((a, b) => b.disposedAt - a.disposedAt);
}

/** Finds a removed session. A host that cannot list them may still know a whole id. */
export async function findRemoved(client: Client, name: string): Promise<string> {
  const items = await removedSessions(client).catch(() => undefined);
  if (!items) return uriOf(name);
  const [last] = items;
  if (name === 'last' && last) return last.summary.resource;
  const summaries = items.map(({ summary }) => summary);
  try {
    return findSession(summaries, name).resource;
  } catch (error) {
    if (!(error instanceof NoSessionError)) throw error;
    throw new NoSessionError(`there is no removed session "${name}"`, 'atrium sessions list --removed');
  }
}

export function removedRow({ summary, disposedAt }: RemovedSession, now: number): string[] {
  const { resource, provider, title } = summary;
  return [
    shortId(resource),
    ago(new Date(disposedAt).toISOString(), now),
    printable(provider),
    printable(title),
    placeText(summary),
  ];
}
