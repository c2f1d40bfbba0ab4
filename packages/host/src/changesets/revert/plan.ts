/** Decides what becomes of a file when changes of it are taken back. Nothing that somebody else did is lost. */
import type { BytePath } from '../byte-path.js';
import { capture } from '../capture.js';
import type { ContentStore } from '../content-store.js';
import { type Change, type Entry, isSame } from '../entry.js';
import { merged } from '../git/merge.js';

/** Changes to do to one file, one after the other. */
export interface Wanted {
  readonly path: BytePath;
  readonly changes: readonly Change[];
}

export type Plan =
  | { readonly kind: 'put'; readonly path: BytePath; readonly current?: Entry; readonly target?: Entry }
  | { readonly kind: 'refused'; readonly path: BytePath; readonly why: string };

/** All contents are in the store, and what is on disk now goes there first. */
export async function planOf(root: string, { path, changes }: Wanted, store: ContentStore): Promise<Plan> {
  const current = await capture(root, path, store);
  let target = current;
  for (const change of changes) {
    const next = await stepOf(target, change, store);
    if ('why' in next) return { kind: 'refused', path, why: next.why };
    target = next.entry;
  }
  if (current?.isLost && !isSame(current, target)) return { kind: 'refused', path, why: 'it is too large to be kept' };
  return { kind: 'put', path, ...(current && { current }), ...(target && { target }) };
}

type Next = { readonly entry: Entry | undefined } | { readonly why: string };

async function stepOf(current: Entry | undefined, change: Change, store: ContentStore): Promise<Next> {
  const { before: from, after: to } = change;
  if (isSame(current, to)) return { entry: current };
  if (isSame(current, from)) return to?.isLost ? { why: 'its content before was not kept' } : { entry: to };
  if (!current) return { why: 'somebody has deleted it since' };
  if (!from) return { why: 'somebody has made a new file there since' };
  if (!to) return { why: 'somebody has changed it since, so it is not deleted' };
  return mergedEntry({ current, from, to }, store);
}

async function mergedEntry(
  { current, from, to }: { readonly current: Entry; readonly from: Entry; readonly to: Entry },
  store: ContentStore,
): Promise<Next> {
  // Somebody made it executable, or a link of it: that stays, unless it is what is taken back.
  const kind = current.kind === from.kind ? to.kind : current.kind;
  if (current.hash === from.hash)
    return to.isLost ? { why: 'its content before was not kept' } : { entry: { ...to, kind } };
  if (from.hash === to.hash || current.hash === to.hash) return { entry: { ...current, kind } };
  const all = [current, from, to];
  if (all.some((entry) => entry.kind === 'link' || entry.isLost)) return { why: 'somebody has changed it since' };
  const bytes = await merged(store, { current, base: from, other: to });
  if (!bytes) return { why: 'somebody has changed the same lines since' };
  return { entry: { kind, hash: await store.put(bytes), bytes: bytes.length } };
}
