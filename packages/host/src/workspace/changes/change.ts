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

/** Puts changes of one file together that follow from each other, as if they had been one. */

/**
 * What is left of the changes of each file, oldest first. Where one begins as the one before ended, they are one; what
 * leads back to where it began is nothing. More than one is left where somebody else changed the file in between.
 */
export function segmentsOf(changes: Iterable<Change>): Map<BytePath, readonly Change[]> {
  const files = new Map<BytePath, Change[]>();
  for (const change of changes) {
    const segments = files.get(change.path) ?? [];
    files.set(change.path, segments);
    add(segments, change);
  }
  for (const [path, segments] of files) if (segments.length === 0) files.delete(path);
  return files;
}

/** From the first state to the last: what a view shows. */
export function netOf(segments: readonly Change[]): Change | undefined {
  const [first, last] = [segments[0], segments.at(-1)];
  if (!first || !last || isSame(first.before, last.after)) return undefined;
  return changeOf(first.path, first.before, last.after);
}

function add(segments: Change[], change: Change): void {
  const last = segments.at(-1);
  if (!last || !isSame(last.after, change.before)) {
    // Two looks at the same time see the same change twice.
    const isRepeated = last && isSame(last.before, change.before) && isSame(last.after, change.after);
    if (!isRepeated && !isSame(change.before, change.after)) segments.push(change);
    return;
  }
  segments.pop();
  if (isSame(last.before, change.after)) return;
  add(segments, changeOf(change.path, last.before, change.after));
}
