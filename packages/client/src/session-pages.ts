/** Reads the whole list of sessions, in as many pages as the host makes of it. */
import type { ListSessionsResult, SessionSummary } from '@atrium/protocol/ahp-1';
import { InvalidResultError } from './errors.js';
import type { Peer } from './peer.js';

/** The size of a page: neither the host nor the client ever holds the text of thousands of sessions. */
export const SESSIONS_PER_PAGE = 500;

/** The host cuts the list into pages, so a list of more than these would not end. */
export const SESSION_PAGES_MAX = 10_000;

export interface ReadSessions {
  readonly items: readonly SessionSummary[];
  /** True if the list came as one page, so that no session can have moved between pages. */
  readonly isOneStep: boolean;
}

export async function readSessions(peer: Pick<Peer, 'request'>): Promise<ReadSessions> {
  // A session that changes moves to the front: it may be on two pages, or on none.
  const items = new Map<string, SessionSummary>();
  let cursor: string | undefined;
  for (let pages = 1; pages <= SESSION_PAGES_MAX; pages += 1) {
    const page: ListSessionsResult = await peer.request('listSessions', { limit: SESSIONS_PER_PAGE, cursor });
    for (const summary of page.items) if (!items.has(summary.resource)) items.set(summary.resource, summary);
    cursor = page.nextCursor;
    if (cursor === undefined) return { items: [...items.values()], isOneStep: pages === 1 };
  }
  throw new InvalidResultError('listSessions', `the list has not ended after ${SESSION_PAGES_MAX} pages`);
}
