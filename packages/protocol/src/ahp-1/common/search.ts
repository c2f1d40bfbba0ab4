/** The answer to `atrium/search`, a method of our own beside the protocol. */
import type { URI } from './types.js';
import type { Phrase, TextSpan } from './words.js';

export const SEARCH_METHOD = 'atrium/search';

/** What can be searched for. The query may contain the filters, too: `agent:claude since:7d`. */
export interface SearchParams {
  /** Words, `"phrases"`, `beginnings*`, and `-words` that must not occur. */
  readonly query?: string;
  /** A path, or a part of one. */
  readonly folder?: string;
  readonly agent?: string;
  readonly model?: string;
  /** A file that the turn changed. */
  readonly file?: string;
  /** idle, working, waiting, failed, unread, archived or pinned. */
  readonly state?: string;
  /** A day like 2026-03-01, a timestamp, or a time ago: 30m, 12h, 7d, 2w. */
  readonly since?: string;
  readonly until?: string;
  /** Only in this session, or this chat. */
  readonly channel?: URI;
  readonly limit?: number;
  readonly cursor?: string;
}

/** One place where the words occur. */
export interface SearchItem {
  readonly session: URI;
  /** The chat and the turn; absent when the title of the session matches. */
  readonly chat?: URI;
  readonly turnId?: string;
  /** The index of the turn among the finished turns of its chat, from 0. */
  readonly turn?: number;
  readonly time: string;
  readonly kind: 'title' | 'message' | 'answer' | 'reasoning' | 'tool' | 'file';
  readonly snippet: string;
  /** Where the words occur in the snippet. */
  readonly ranges: readonly TextSpan[];
  /** The title of the session. */
  readonly title: string;
  readonly provider: string;
  readonly workingDirectory?: URI;
}

export interface SearchResult {
  /** The newest first. */
  readonly items: readonly SearchItem[];
  /** Absent on the last page. */
  readonly nextCursor?: string;
  /** The phrases searched for, without case and accents, so that clients can highlight them. */
  readonly phrases: readonly Phrase[];
  /** Present while the index is being built, counted in sessions: there may be more results. */
  readonly indexing?: { readonly done: number; readonly total: number };
}
