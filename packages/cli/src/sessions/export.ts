/** Reads a whole session out of a host, page by page. */
import type { Client, Subscription } from '@atrium/client';
import type { SessionState, Turn } from '@atrium/protocol';

/** What a host gives in one answer. */
const PAGE_MAX_TURNS = 100;
/** The first answer is small; how many turns the next ones hold depends on how large turns are here. */
const FIRST_PAGE_TURNS = 5;
const PAGE_ADVISED_CHARACTERS = 4_000_000;

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
    for (let at = 0, count = FIRST_PAGE_TURNS; at < start; ) {
      const range = { start: at, end: Math.min(at + count, start) };
      const { turns } = await client.request('fetchTurns', { channel: session.uri, ...{ range } });
      if (turns.length !== range.end - range.start) throw new Error('history was cut meanwhile: export it again');
      yield turns;
      at = range.end;
      count = fittingCount(turns);
    }
    if (total > start) yield state.turns;
  } finally {
    session.close();
  }
}

function fittingCount(turns: readonly Turn[]): number {
  const average = turns.reduce((sum, turn) => sum + JSON.stringify(turn).length, 0) / turns.length;
  return Math.max(1, Math.min(PAGE_MAX_TURNS, Math.floor(PAGE_ADVISED_CHARACTERS / average)));
}
