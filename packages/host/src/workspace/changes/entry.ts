/** What is at a path at some moment, and what became of it. Everything else in this room is made of these two. */
import type { BytePath } from '../git/byte-path.js';

export interface Entry {
  readonly kind: 'file' | 'exec' | 'link';
  /** Names the content: its SHA-256, or what tells versions of a file apart whose content is not kept. */
  readonly hash: string;
  readonly bytes: number;
  /** Its content could not be kept: too large, or made by a program that we do not run. */
  readonly isLost?: true;
}

/** Absent sides mean that nothing was there. */
export interface Change {
  readonly path: BytePath;
  readonly before?: Entry;
  readonly after?: Entry;
}

export function isSame(one: Entry | undefined, other: Entry | undefined): boolean {
  return one?.hash === other?.hash && one?.kind === other?.kind;
}

export function changeOf(path: BytePath, before: Entry | undefined, after: Entry | undefined): Change {
  return { path, ...(before && { before }), ...(after && { after }) };
}

export function inverse({ path, before, after }: Change): Change {
  return changeOf(path, after, before);
}
