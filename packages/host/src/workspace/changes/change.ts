/** A change of one file: what is at a path before and after. All other files in this folder build on it. */
import type { BytePath } from '../git/byte-path.js';

/** What is at a path at one moment. */
export interface Entry {
  readonly kind: 'file' | 'exec' | 'link';
  /** Identifies the content: its SHA-256, or, if the content is not stored, a text that differs for each version. */
  readonly hash: string;
  readonly bytes: number;
  /** The content is not stored, because it is too large, or comes from a program that the host does not run. */
  readonly isLost?: true;
}

/** An absent side means that nothing was at the path. */
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

/**
 * Joins the changes of each file, oldest first. A change that begins as the one before ended continues it; changes that
 * lead back to their beginning cancel out. A file keeps several changes if another program changed it in between.
 */
export function segmentsOf(changes: Iterable<Change>): Map<BytePath, readonly Change[]> {
  const files = new Map<BytePath, Change[]>();
  for (const change of changes) {
    const segments = files.get(change.path) ?? [];
    files.set(change.path, segments);
    join(segments, change);
  }
  for (const [path, segments] of files) if (segments.length === 0) files.delete(path);
  return files;
}

function join(segments: Change[], change: Change): void {
  const last = segments.at(-1);
  if (!last || !isSame(last.after, change.before)) {
    // Two simultaneous snapshots see the same change twice.
    const isRepeated = last && isSame(last.before, change.before) && isSame(last.after, change.after);
    if (!isRepeated && !isSame(change.before, change.after)) segments.push(change);
    return;
  }
  segments.pop();
  if (isSame(last.before, change.after)) return;
  join(segments, changeOf(change.path, last.before, change.after));
}

/** The change from the first state to the last, which a view shows. */
export function netOf(segments: readonly Change[]): Change | undefined {
  const [first, last] = [segments[0], segments.at(-1)];
  if (!first || !last || isSame(first.before, last.after)) return undefined;
  return changeOf(first.path, first.before, last.after);
}
