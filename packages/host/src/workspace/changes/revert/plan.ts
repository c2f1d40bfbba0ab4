/** Decides what becomes of a file when changes of it are taken back. Nothing that somebody else did is lost. */
import type { BytePath } from '../../git/byte-path.js';
import { GitError } from '../../git/git.js';
import { capture } from '../capture.js';
import type { ContentStore } from '../content-store.js';
import { type Change, type Entry, isSame } from '../entry.js';
import { merged } from '../git/merge.js';
import type { Refusal } from './apply.js';
import type { Put } from './put-entry.js';

/** Changes to do to one file, one after the other. */
export interface Wanted {
  readonly path: BytePath;
  readonly changes: readonly Change[];
}

/** All contents are in the store, and what is on disk now goes there first. */
export async function planOf(root: string, { path, changes }: Wanted, store: ContentStore): Promise<Put | Refusal> {
  const current = await capture(root, path, store);
  let target = current;
  for (const change of changes) {
    const next = await stepOf(target, change, store);
    if ('why' in next) return { path, why: next.why };
    target = next.entry;
  }
  if (current?.isLost && !isSame(current, target)) return { path, why: 'it is too large to be kept' };
  return { path, ...(current && { current }), ...(target && { target }) };
}

type Next = { readonly entry: Entry | undefined } | { readonly why: string };

const NOT_KEPT = 'its content before was not kept';
const CHANGED = 'somebody has changed it since';

async function stepOf(current: Entry | undefined, change: Change, store: ContentStore): Promise<Next> {
  const { before: from, after: to } = change;
  if (isSame(current, to)) return { entry: current };
  if (isSame(current, from)) return to?.isLost ? { why: NOT_KEPT } : { entry: to };
  if (!current) return { why: 'somebody has deleted it since' };
  if (!from) return { why: 'somebody has made a new file there since' };
  if (!to) return { why: `${CHANGED}, so it is not deleted` };
  return mergedEntry({ current, from, to }, store);
}

async function mergedEntry(
  { current, from, to }: { readonly current: Entry; readonly from: Entry; readonly to: Entry },
  store: ContentStore,
): Promise<Next> {
  const all = [current, from, to];
  if (all.some((entry) => entry.kind === 'link')) return { why: CHANGED };
  // Somebody made it executable, or not: that stays, unless it is what is taken back.
  const kind = current.kind === from.kind ? to.kind : current.kind;
  if (current.hash === from.hash) return to.isLost ? { why: NOT_KEPT } : { entry: { ...to, kind } };
  if (from.hash === to.hash || current.hash === to.hash) return { entry: { ...current, kind } };
  if (all.some((entry) => entry.isLost)) return { why: CHANGED };
  const merge = await merged(store, { current, base: from, other: to }).catch(orWhy);
  if (!merge) return { why: 'somebody has changed the same lines since' };
  if ('why' in merge) return merge;
  return { entry: { kind, hash: await store.put(merge), bytes: merge.length } };
}

/** One file that cannot be merged, or a machine without Git, keeps no other file from being taken back. */
function orWhy(error: unknown): { readonly why: string } {
  if (error instanceof GitError) return { why: `${CHANGED}, and the two cannot be put together: ${error.message}` };
  throw error;
}
