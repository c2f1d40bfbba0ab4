/** What `atrium/search` answers: a method of our own beside the protocol. */
import type { URI } from './types.js';
import type { Phrase, TextSpan } from './words.js';

export const SEARCH_METHOD = 'atrium/search';

/** What can be asked for. The query may hold the filters, too: `agent:claude since:7d`. */
export interface SearchParams {
  /** Words, `"phrases"`, `beginnings*`, and `-words` that must not be there. */
  readonly query?: string;
  /** A path, or a part of one. */
  readonly folder?: string;
  readonly agent?: string;
  readonly model?: string;
  /** A file that the turn changed. */
  readonly file?: string;
  /** idle, working, waiting, failed, unread, archived or pinned. */
  readonly state?: string;
  /** A day like 2026-03-01, a timestamp, or so long ago: 30m, 12h, 7d, 2w. */
  readonly since?: string;
  readonly until?: string;
  /** Only in this session, or this chat. */
  readonly channel?: URI;
  readonly limit?: number;
  readonly cursor?: string;
}

/** One place where the words stand. */
export interface SearchItem {
  readonly session: URI;
  /** The chat and the turn; absent where the title of the session has the words. */
  readonly chat?: URI;
  readonly turnId?: string;
  /** The index of the turn among the finished turns of its chat, from 0. */
  readonly turn?: number;
  readonly time: string;
  readonly kind: 'title' | 'message' | 'answer' | 'reasoning' | 'tool' | 'file';
  readonly snippet: string;
  /** Where the words stand in the snippet. */
  readonly ranges: readonly TextSpan[];
  /** Of the session. */
  readonly title: string;
  readonly provider: string;
  readonly workingDirectory?: URI;
}

export interface SearchResult {
  /** The newest first. */
  readonly items: readonly SearchItem[];
  /** Absent on the last page. */
  readonly nextCursor?: string;
  /** What was asked for, without case and accents: for marking it. */
  readonly phrases: readonly Phrase[];
  /** Present while the index is being made, counted in sessions: there may be more. */
  readonly indexing?: { readonly done: number; readonly total: number };
}
