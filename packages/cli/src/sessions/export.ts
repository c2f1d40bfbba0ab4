/** Reads a whole session out of a host, page by page, with the large contents that its turns name. */
import type { Client, Subscription } from '@atrium/client';
import { type ResourceReadResult, ROOT_CHANNEL, type SessionState, type Turn } from '@atrium/protocol';
import type { KeptContent } from './archive-file.js';

/** What a host gives in one answer. */
const PAGE_MAX_TURNS = 100;
/** The first answer is small; how many turns the next ones hold depends on how large turns are here. */
const FIRST_PAGE_TURNS = 5;
const PAGE_ADVISED_CHARACTERS = 4_000_000;
/** Of a large content, in one answer. */
const PIECE_BYTES = 2 * 2 ** 20;
/** A content by its hash. Hosts that keep none have no such names. */
const NAMED = /atrium-content:\/[0-9a-f]{64}/g;

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

/** What a text names that is not known yet; from then on it is. */
export function namedContents(text: string, known: Set<string>): string[] {
  const names = [...new Set(text.match(NAMED))].filter((name) => !known.has(name));
  for (const name of names) known.add(name);
  return names;
}

/** Text stays readable in the file. */
export async function readContent(client: Client, uri: string): Promise<KeptContent> {
  const pieces: Buffer[] = [];
  for (let start = 0, size = 1; start < size; start += PIECE_BYTES) {
    const range = { start, end: start + PIECE_BYTES };
    const params = { channel: ROOT_CHANNEL, uri, encoding: 'base64' as const, ...{ range } };
    const answer: ResourceReadResult & { size?: number } = await client.request('resourceRead', params);
    pieces.push(Buffer.from(answer.data, answer.encoding === 'base64' ? 'base64' : 'utf8'));
    size = answer.size ?? 0;
  }
  const bytes = Buffer.concat(pieces);
  const text = bytes.toString('utf8');
  if (Buffer.from(text).equals(bytes)) return { content: uri, encoding: 'utf-8', data: text };
  return { content: uri, encoding: 'base64', data: bytes.toString('base64') };
}
