/** Counts the lines that a change adds and removes. */
import type { FileEditDiff } from '@atrium/protocol';

/** Beyond so many changed lines the count is no longer the smallest possible: it is not worth the time. */
export const LINE_DIFF_MAX_EDITS = 1_000;

export function lineDiff(before: string, after: string): Required<FileEditDiff> {
  const [old, fresh] = withoutCommonEnds(linesOf(before), linesOf(after));
  const edits = editDistance(old, fresh) ?? old.length + fresh.length;
  const added = (edits + fresh.length - old.length) / 2;
  return { added, removed: edits - added };
}

/** Each with its line ending, so that a changed ending counts as a change. */
function linesOf(text: string): string[] {
  return text === '' ? [] : text.split(/(?<=\n)/);
}

function withoutCommonEnds(old: readonly string[], fresh: readonly string[]): [readonly string[], readonly string[]] {
  const shorter = Math.min(old.length, fresh.length);
  let start = 0;
  while (start < shorter && old[start] === fresh[start]) start += 1;
  let end = 0;
  while (end < shorter - start && old.at(-1 - end) === fresh.at(-1 - end)) end += 1;
  return [old.slice(start, old.length - end), fresh.slice(start, fresh.length - end)];
}

/**
 * The smallest number of lines to remove and add (Myers 1986): for each number of edits, how far one gets on each
 * diagonal of the grid of old and new lines.
 */
function editDistance(old: readonly string[], fresh: readonly string[]): number | undefined {
  const reach = new Map<number, number>([[1, 0]]);
  const most = Math.min(old.length + fresh.length, LINE_DIFF_MAX_EDITS);
  for (let edits = 0; edits <= most; edits += 1) {
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = stepFrom(reach, diagonal, edits);
      while (x < old.length && x - diagonal < fresh.length && old[x] === fresh[x - diagonal]) x += 1;
      reach.set(diagonal, x);
      if (x >= old.length && x - diagonal >= fresh.length) return edits;
    }
  }
  return undefined;
}

function stepFrom(reach: ReadonlyMap<number, number>, diagonal: number, edits: number): number {
  const down = reach.get(diagonal + 1) ?? -1;
  const right = (reach.get(diagonal - 1) ?? -1) + 1;
  if (diagonal === -edits) return down;
  return diagonal === edits ? right : Math.max(down, right);
}
