/**
 * The full text of what a log holds, for searching. An index is derived data: it can be deleted at any time, and is made
 * again from the log. A log that has none is searched by reading it.
 */
import type { Phrase } from '@atrium/protocol/ahp-1';

/** One finished turn, or the title of a session, as an index knows it. */
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
  /** Words of the path of a file that the turn changed. */
  readonly file?: Phrase | undefined;
  readonly model?: Phrase | undefined;
  /** At or after, and before, in milliseconds since the epoch. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** Only in these channels. */
  readonly channels?: readonly string[] | undefined;
  /** Only what stands behind this hit, in the order of the answer. */
  readonly behind?: string | undefined;
  readonly limit: number;
}

export interface TextHit {
  readonly channel: string;
  /** Of the document in its channel, from 0. */
  readonly index: number;
  readonly id: string;
  readonly time: number;
  /** Where it stands in the order, for `behind`. */
  readonly position: string;
}

/** What can be searched. Hits come the newest first. */
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
  /** The id of a document; undefined when there is none. */
  idAt(uri: string, index: number): Promise<string | undefined>;
  /** Replaces the documents of a channel from an index on. All of it is stored, or nothing. */
  replace(uri: string, change: { seq: number; start: number; documents: readonly TextDocument[] }): Promise<void>;
  forget(uri: string): Promise<void>;
  /** A millisecond or so of upkeep, which keeps the index small and fast; false when there is nothing left to do. */
  tidy(): Promise<boolean>;
  close(): Promise<void>;
}

/** The index is damaged: it has to be deleted and made anew. */
export class TextIndexDamagedError extends Error {
  override readonly name = 'TextIndexDamagedError';
}
