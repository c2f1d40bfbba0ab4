/**
 * Going back to a message: methods of our own beside the protocol, and what a session shows of it. AHP can cut a
 * conversation, but cannot restore files with it, preview a cut, or undo one.
 */
import type { Meta, URI } from '../common/types.js';

export const REWIND_PREVIEW_METHOD = 'atrium/rewindPreview';
export const REWIND_METHOD = 'atrium/rewind';
export const UNDO_REWIND_METHOD = 'atrium/undoRewind';

/** The key in `SessionState._meta` with a `Rewound`. */
export const REWIND_META_KEY = 'atrium.rewind';

/** What is taken back. */
export const REWIND_KINDS = ['both', 'conversation', 'files'] as const;
export type RewindKind = (typeof REWIND_KINDS)[number];

/** The message to go back to: its turn, and everything after it, is taken back. */
export interface RewindPlace {
  /** A chat, or a session, which means its default chat. */
  readonly channel: URI;
  readonly turnId: string;
}

/** A file that would be restored, and the effect on it. */
export interface RewindFile {
  readonly uri: URI;
  readonly does: 'change' | 'delete' | 'create';
  /** Lines; absent when it is not text. */
  readonly added?: number;
  readonly removed?: number;
}

/** A file that stays as it is, although the agent changed it. */
export interface KeptFile {
  readonly uri: URI;
  readonly why: string;
}

export interface RewindPreview {
  readonly chat: URI;
  readonly turnId: string;
  /** The text of the message, shortened. */
  readonly message: string;
  /** How many turns would be cut off: that of the message, and later ones. */
  readonly turns: number;
  readonly files: readonly RewindFile[];
  readonly kept: readonly KeptFile[];
  /** More files would change, or be kept, than are listed. */
  readonly moreFiles?: number;
  /** What cannot be undone: commands with effects beyond recorded files, and anything unknown. */
  readonly notUndone: readonly string[];
  /** Identifies what was shown: a rewind with it is refused if files have changed since. */
  readonly plan: string;
}

export interface RewindParams extends RewindPlace {
  readonly what?: RewindKind;
  /** The preview that a person agreed to. */
  readonly plan?: string;
}

export interface RewindResult {
  /** What was done, in a sentence or two. */
  readonly message: string;
  /** The text of the message that was gone back to. */
  readonly text: string;
  /** The chat that keeps the turns that were cut off. */
  readonly fork?: URI;
  readonly files: number;
  readonly kept: readonly KeptFile[];
}

/** The last rewind of a session, while it is under way or can be undone: until the next turn. */
export interface Rewound {
  readonly id: string;
  readonly chat: URI;
  readonly what: RewindKind;
  readonly state: 'working' | 'done' | 'undone';
  /** What was done, or is being done. */
  readonly message: string;
  readonly fork?: URI;
}

/**
 * The last rewind; undefined when there is none. Only our own host writes the key, but another program may use the same
 * name.
 */
export function rewoundOf(meta: Meta | undefined): Rewound | undefined {
  const found = meta?.[REWIND_META_KEY] as Partial<Rewound> | undefined;
  const isRewound =
    typeof found?.id === 'string' && typeof found.chat === 'string' && typeof found.message === 'string';
  return isRewound ? (found as Rewound) : undefined;
}

/** The metadata with another rewind, or without one. */
export function withRewound(meta: Meta | undefined, rewound: Rewound | undefined): Meta {
  const { [REWIND_META_KEY]: _before, ...rest } = meta ?? {};
  return rewound ? { ...rest, [REWIND_META_KEY]: rewound } : rest;
}
