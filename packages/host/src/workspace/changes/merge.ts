/** Puts two changes of a text together, and cuts one into its pieces. Git does both on plain files, in no repository. */

import type { TextRange } from '@atrium/protocol';
import type { BytePath } from '../git/byte-path.js';
import { GitError, git } from '../git/git.js';
import { capture } from './capture.js';
import { type Change, type Entry, isSame } from './change.js';
import type { ContentStore } from './content-store.js';
import { CONTENT_MAX_BYTES } from './limits.js';
import type { Put, Refusal } from './put-files.js';

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

/** Decides what becomes of a file when changes of it are taken back. Nothing that somebody else did is lost. */

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

/** Takes back only those pieces of a change that touch some lines of one of its sides. */

export interface LineRange {
  readonly side: 'before' | 'after';
  readonly range: TextRange;
}

/** What the file would be without those pieces; undefined when none of them touches the lines. */
export async function withoutRange(
  store: ContentStore,
  { before, after }: Required<Change>,
  lines: LineRange,
): Promise<Entry | undefined> {
  const touched = (await hunksOf(store, before, after)).filter((hunk) => touches(hunk, lines));
  const [old, fresh] = [await store.read(before.hash), await store.read(after.hash)];
  if (touched.length === 0 || !old || !fresh) return undefined;
  const bytes = Buffer.from(patched(linesOf(fresh), linesOf(old), touched), 'latin1');
  return { kind: after.kind, hash: await store.put(bytes), bytes: bytes.length };
}

/** Protocol lines count from 0; a range that ends before the first character of a line does not touch it. */
function touches(hunk: Hunk, { side, range }: LineRange): boolean {
  const { start, lines } = hunk[side];
  const first = range.start.line + 1;
  const endsBefore = range.end.character === 0 && range.end.line > range.start.line;
  const last = range.end.line + (endsBefore ? 0 : 1);
  // What is gone from a side has no line there; it is between the one it stands behind and the next.
  if (lines === 0) return first <= start + 1 && last >= start;
  return first <= start + lines - 1 && last >= start;
}

function patched(fresh: readonly string[], old: readonly string[], hunks: readonly Hunk[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const { before, after } of hunks) {
    const begin = after.lines === 0 ? after.start : after.start - 1;
    const from = before.lines === 0 ? before.start : before.start - 1;
    parts.push(...fresh.slice(at, begin), ...old.slice(from, from + before.lines));
    at = begin + after.lines;
  }
  return [...parts, ...fresh.slice(at)].join('');
}

function linesOf(bytes: Buffer): string[] {
  return bytes.toString('latin1').split(/(?<=\n)/);
}
