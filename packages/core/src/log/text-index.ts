/**
 * Full-text search over the log. An index is derived data: it can be deleted at any time, and is rebuilt from the log.
 * Without an index, searching reads the log itself.
 */
import type { Phrase } from '@atrium/protocol/ahp-1';

/** One finished turn, or the title of a session. */
export interface TextDocument {
  /** The id of the turn; for a title, the title itself. */
  readonly id: string;
  /** In milliseconds since the epoch. */
  readonly time: number;
  readonly text: string;
  /** The files that the turn changed, one per line. */
  readonly files: string;
  /** The models that worked on it. */
  readonly model: string;
}

export interface TextQuery {
  readonly all: readonly Phrase[];
  readonly none: readonly Phrase[];
  /** Words from the path of a file that the turn changed. */
  readonly file?: Phrase | undefined;
  readonly model?: Phrase | undefined;
  /** `since` is inclusive, `until` exclusive, in milliseconds since the epoch. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** Only in these channels. */
  readonly channels?: readonly string[] | undefined;
  /** Only hits after this position. */
  readonly behind?: string | undefined;
  readonly limit: number;
}

export interface TextHit {
  readonly channel: string;
  /** Index of the document in its channel, from 0. */
  readonly index: number;
  readonly id: string;
  readonly time: number;
  /** Where the hit stands in the order; pass it as `behind` to continue. */
  readonly position: string;
}

/** Finds documents, newest first. */
export interface TextFinder {
  find(query: TextQuery): Promise<TextHit[]>;
}

export interface IndexedChannel {
  /** The number of the archive that its documents were read from. */
  readonly seq: number;
  /** How many documents it has. */
  readonly count: number;
}

export interface TextIndex extends TextFinder {
  channels(): Promise<string[]>;
  channel(uri: string): Promise<IndexedChannel | undefined>;
  /** The id of a document; undefined when it does not exist. */
  idAt(uri: string, index: number): Promise<string | undefined>;
  /** Replaces the documents of a channel from an index on. It stores all of the change or nothing. */
  replace(uri: string, change: { seq: number; start: number; documents: readonly TextDocument[] }): Promise<void>;
  forget(uri: string): Promise<void>;
  /** Does about a millisecond of upkeep, which keeps the index small and fast; false when nothing is left to do. */
  tidy(): Promise<boolean>;
  close(): Promise<void>;
}

/** The index is damaged and must be deleted and rebuilt. */
export class TextIndexDamagedError extends Error {
  override readonly name = 'TextIndexDamagedError';
}
