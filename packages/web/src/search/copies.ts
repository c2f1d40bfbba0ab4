/** A fork has the text of its origin, so that a search finds it once for each copy. */
import { forkOf, type SearchItem, type SessionSummary } from '@atrium/protocol/ahp-1';

export interface Hit {
  readonly item: SearchItem;
  /** How many other copies of the session, or forks of the chat, have the same. */
  readonly copies: number;
}

type Listed = Pick<SessionSummary, 'resource' | '_meta'>;

/** Shows the same place of copies once: where it was found first. */
export function withoutCopies(items: readonly SearchItem[], sessions: readonly Listed[]): readonly Hit[] {
  const origins = new Map(sessions.map((session) => [session.resource, forkOf(session)]));
  const hits = new Map<string, Hit>();
  for (const item of items) {
    const { kind, turn, snippet, session } = item;
    // A title is the session's own.
    const about = kind === 'title' ? [session] : [rootOf(session, origins), turn, snippet];
    const key = JSON.stringify([kind, ...about]);
    const known = hits.get(key);
    hits.set(key, known ? { ...known, copies: known.copies + 1 } : { item, copies: 0 });
  }
  return [...hits.values()];
}

/** The session that a copy goes back to. */
function rootOf(session: string, origins: ReadonlyMap<string, string | undefined>): string {
  const seen = new Set<string>();
  let root = session;
  for (let at: string | undefined = session; at !== undefined && !seen.has(at); at = origins.get(at)) {
    seen.add(at);
    root = at;
  }
  return root;
}
