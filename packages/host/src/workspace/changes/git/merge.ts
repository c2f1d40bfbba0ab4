/** Puts two changes of a text together, and cuts one into its pieces. Git does both on plain files, in no repository. */

import { GitError, git } from '../../git/git.js';
import type { ContentStore } from '../content-store.js';
import type { Entry } from '../entry.js';
import { CONTENT_MAX_BYTES } from '../limits.js';

/** Two versions of one file, with what Git adds to tell them apart. */
const BOTH_MAX_BYTES = 4 * CONTENT_MAX_BYTES;

/** Lines of both sides that a piece of a change is about, counted from 1; an empty side stands behind its line. */
export interface Hunk {
  readonly before: { readonly start: number; readonly lines: number };
  readonly after: { readonly start: number; readonly lines: number };
}

/** What leads from `base` to `other`, done to `current`. Undefined when both changed the same lines, or it is no text. */
export async function merged(
  store: ContentStore,
  { current, base, other }: { readonly current: Entry; readonly base: Entry; readonly other: Entry },
): Promise<Buffer | undefined> {
  const [ours, common, theirs] = [current, base, other].map(({ hash }) => store.fileOf(hash));
  if (ours === undefined || common === undefined || theirs === undefined) return undefined;
  try {
    return await git(store.folder, ['merge-file', '-p', '-q', ours, common, theirs], { maxBytes: BOTH_MAX_BYTES });
  } catch (error) {
    // The exit code counts the conflicts, or says that it was no text.
    if (error instanceof GitError && error.code !== undefined) return undefined;
    throw error;
  }
}

export async function hunksOf(store: ContentStore, before: Entry, after: Entry): Promise<Hunk[]> {
  const how = ['diff', '--no-index', '--no-ext-diff', '--no-textconv', '--no-color', '--unified=0', '--text', '--'];
  const sides = [store.fileOf(before.hash), store.fileOf(after.hash)];
  const text = (await git(store.folder, [...how, ...sides], { fine: [1], maxBytes: BOTH_MAX_BYTES })).toString(
    'latin1',
  );
  return [...text.matchAll(/^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/gm)].map(([, ...numbers]) => {
    const [b = 0, bLines = 1, a = 0, aLines = 1] = numbers.map((number) => (number === undefined ? 1 : Number(number)));
    return { before: { start: b, lines: bLines }, after: { start: a, lines: aLines } };
  });
}
