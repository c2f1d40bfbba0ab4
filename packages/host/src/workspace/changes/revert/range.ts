/** Takes back only those pieces of a change that touch some lines of one of its sides. */
import type { TextRange } from '@atrium/protocol';
import type { ContentStore } from '../content-store.js';
import type { Change, Entry } from '../entry.js';
import { type Hunk, hunksOf } from '../git/merge.js';

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
