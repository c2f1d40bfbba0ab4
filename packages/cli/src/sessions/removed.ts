/** Sessions that were removed and are still kept. */
import type { Client } from '@atrium/client';
import type { SessionSummary } from '@atrium/protocol';
import { callRaw } from '../connect/call-raw.js';
import { NoSessionError } from '../exit.js';
import { printable } from '../text/printable.js';
import { findSession, shortId, uriOf } from './reference.js';
import { ago, placeText } from './words.js';

export interface RemovedSession {
  readonly summary: SessionSummary;
  /** In milliseconds since the epoch. */
  readonly disposedAt: number;
}

/** Those that were removed last come first. */
export async function removedSessions(client: Client): Promise<RemovedSession[]> {
  const { items } = (await callRaw(client, 'atrium/listDisposed', {})) as { items: RemovedSession[] };
  return items.toSorted((a, b) => b.disposedAt - a.disposedAt);
}

/** The one that is meant. A host that cannot list them may still know a whole id. */
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
  return [shortId(resource), ago(disposedAt, now), printable(provider), printable(title), placeText(summary)];
}
