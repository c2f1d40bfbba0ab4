/** Reads a whole session out of a host, page by page. */
import type { Client, Subscription } from '@atrium/client';
import type { SessionState, Turn } from '@atrium/protocol';

/** What a host gives in one answer. */
const PAGE_TURNS = 100;

export interface WholeSession {
  readonly state: SessionState;
  readonly total: number;
  /** All finished turns, oldest first. */
  pages(): AsyncGenerator<readonly Turn[], void, undefined>;
}

export async function readSession(client: Client, uri: string): Promise<WholeSession> {
  const session = await client.subscribe(uri, { turns: { last: 1 } });
  const { state, window } = session;
  return { state, total: window.total, pages: () => pagesOf(client, session, state, window) };
}

/** A host that does not know windows has sent everything already. */
async function* pagesOf(
  client: Client,
  session: Subscription,
  state: SessionState,
  { start, total }: { start: number; total: number },
): AsyncGenerator<readonly Turn[], void, undefined> {
  try {
    for (let at = 0; at < start; at += PAGE_TURNS) {
      const range = { start: at, end: Math.min(at + PAGE_TURNS, start) };
      const { turns } = await client.request('fetchTurns', { channel: session.uri, ...{ range } });
      if (turns.length !== range.end - range.start) throw new Error('history was cut meanwhile: export it again');
      yield turns;
    }
    if (total > start) yield state.turns;
  } finally {
    session.close();
  }
}
