/**
 * Decides what becomes of a file when its changes are undone, all of them or some lines. Work of other programs is
 * never lost: if the file is no longer as the agent left it, Git merges; if Git cannot, the file stays as it is.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { BlobStore } from '@atrium/core/contracts/blobs.js';
import type { TextRange } from '@atrium/protocol/ahp-1';
import { type BytePath, located } from '../git/byte-path.js';
import { GitError, git } from '../git/git.js';
import { capture } from './capture.js';
import { type Change, type Entry, isSame } from './change.js';
import { CONTENT_MAX_BYTES } from './limits.js';
import type { Put, Refusal } from './put-files.js';

/** Two versions of one file, plus the output with which Git tells them apart. */
const BOTH_MAX_BYTES = 4 * CONTENT_MAX_BYTES;

/** Changes to apply to one file, one after another. */
export interface FileChanges {
  readonly path: BytePath;
  readonly changes: readonly Change[];
}

/** Plans one file. The content that is on disk now goes into the store first. */
export async function planOf(
  first: string,
  { path: file, changes }: FileChanges,
  blobs: BlobStore,
): Promise<Put | Refusal> {
  const { root, path: inside } = located(first, file);
  const current = await capture(root, inside, blobs);
  let target = current;
  for (const change of changes) {
    const next = await stepOf(target, change, blobs);
    if ('why' in next) return { path: file, why: next.why };
    target = next.entry;
  }
  if (current?.isLost && !isSame(current, target)) return { path: file, why: 'it is too large to be kept' };
  return { path: file, ...(current && { current }), ...(target && { target }) };
}

type Next = { readonly entry: Entry | undefined } | { readonly why: string };

const NOT_KEPT = 'its content before was not kept';
const CHANGED = 'it has been changed since';

async function stepOf(current: Entry | undefined, change: Change, blobs: BlobStore): Promise<Next> {
  const { before: from, after: to } = change;
  if (isSame(current, to)) return { entry: current };
  if (isSame(current, from)) return to?.isLost ? { why: NOT_KEPT } : { entry: to };
  if (!current) return { why: 'it has been deleted since' };
  if (!from) return { why: 'a new file has appeared there since' };
  if (!to) return { why: `${CHANGED}, so it is not deleted` };
  return mergedEntry({ current, from, to }, blobs);
}

async function mergedEntry(
  { current, from, to }: { readonly current: Entry; readonly from: Entry; readonly to: Entry },
  blobs: BlobStore,
): Promise<Next> {
  const all = [current, from, to];
  if (all.some((entry) => entry.kind === 'link')) return { why: CHANGED };
  // A later change of the executable bit stays, unless the undone change made it.
  const kind = current.kind === from.kind ? to.kind : current.kind;
  if (current.hash === from.hash) return to.isLost ? { why: NOT_KEPT } : { entry: { ...to, kind } };
  if (from.hash === to.hash || current.hash === to.hash) return { entry: { ...current, kind } };
  if (all.some((entry) => entry.isLost)) return { why: CHANGED };
  const merge = await merged(blobs, { current, base: from, other: to }).catch(orWhy);
  if (!merge) return { why: 'the same lines have been changed since' };
  if ('why' in merge) return merge;
  return { entry: { kind, hash: await blobs.put(merge), bytes: merge.length } };
}

/** A file that cannot be merged, or a machine without Git, must not keep other files from being undone. */
function orWhy(error: unknown): { readonly why: string } {
  if (error instanceof GitError) return { why: `${CHANGED}, and the two cannot be put together: ${error.message}` };
  throw error;
}

/**
 * Applies the difference from `base` to `other` to `current`. Undefined when both changed the same lines, or when it is
 * not text.
 */
async function merged(
  blobs: BlobStore,
  { current, base, other }: { readonly current: Entry; readonly base: Entry; readonly other: Entry },
): Promise<Buffer | undefined> {
  return asFiles(blobs, [current, base, other], async (folder, files) => {
    try {
      return await git(folder, ['merge-file', '-p', '-q', ...files], { maxBytes: BOTH_MAX_BYTES });
    } catch (error) {
      // The exit code counts the conflicts, or says that it was not text.
      if (error instanceof GitError && error.code !== undefined) return undefined;
      throw error;
    }
  });
}

/** Gives Git contents as plain files for a while. Undefined when one of them is no longer stored. */
export async function asFiles<T>(
  blobs: BlobStore,
  entries: readonly Pick<Entry, 'hash'>[],
  work: (folder: string, files: readonly string[]) => Promise<T>,
): Promise<T | undefined> {
  const folder = await mkdtemp(path.join(tmpdir(), 'atrium-merge-'));
  try {
    const files = entries.map((_, index) => path.join(folder, String(index)));
    for (const [index, { hash }] of entries.entries()) {
      const bytes = await blobs.get(hash);
      if (!bytes) return undefined;
      await writeFile(files[index] ?? '', bytes, { mode: 0o600 });
    }
    return await work(folder, files);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export interface LineRange {
  readonly side: 'before' | 'after';
  readonly range: TextRange;
}

/** The file without the hunks that touch these lines; undefined when no hunk does. */
export async function withoutRange(
  blobs: BlobStore,
  { before, after }: Required<Change>,
  lines: LineRange,
): Promise<Entry | undefined> {
  const touched = (await hunksOf(blobs, before, after)).filter((hunk) => touches(hunk, lines));
  const [old, fresh] = [await blobs.get(before.hash), await blobs.get(after.hash)];
  if (touched.length === 0 || !old || !fresh) return undefined;
  const bytes = Buffer.from(patched(linesOf(fresh), linesOf(old), touched), 'latin1');
  return { kind: after.kind, hash: await blobs.put(bytes), bytes: bytes.length };
}

/** Differing lines of both sides, counted from 1; an empty side gives the line before it. */
interface Hunk {
  readonly before: { readonly start: number; readonly lines: number };
  readonly after: { readonly start: number; readonly lines: number };
}

async function hunksOf(blobs: BlobStore, before: Entry, after: Entry): Promise<Hunk[]> {
  const how = ['diff', '--no-index', '--no-ext-diff', '--no-textconv', '--no-color', '--unified=0', '--text', '--'];
  const output = await asFiles(blobs, [before, after], (folder, files) =>
    git(folder, [...how, ...files], { fine: [1], maxBytes: BOTH_MAX_BYTES }),
  );
  const text = output?.toString('latin1') ?? '';
  return [...text.matchAll(/^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/gm)].map(([, ...numbers]) => {
    const [b = 0, bLines = 1, a = 0, aLines = 1] = numbers.map((number) => (number === undefined ? 1 : Number(number)));
    return { before: { start: b, lines: bLines }, after: { start: a, lines: aLines } };
  });
}

/** Protocol lines count from 0; a range that ends before the first character of a line does not touch that line. */
function touches(hunk: Hunk, { side, range }: LineRange): boolean {
  const { start, lines } = hunk[side];
  const first = range.start.line + 1;
  const endsBefore = range.end.character === 0 && range.end.line > range.start.line;
  const last = range.end.line + (endsBefore ? 0 : 1);
  // An empty side has no lines; it lies between the given line and the next.
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
