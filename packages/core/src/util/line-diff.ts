/** Counts the lines that a change adds and removes. */
import type { FileEditDiff } from '@atrium/protocol';
import { diffArrays } from 'diff';

/** Beyond so many edits the middle of the text counts as rewritten: a smaller count is not worth the time. */
export const LINE_DIFF_MAX_EDITS = 1_000;

export function lineDiff(before: string, after: string): Required<FileEditDiff> {
  const [old, fresh] = withoutCommonEnds(linesOf(before), linesOf(after));
  const parts = diffArrays([...old], [...fresh], { maxEditLength: LINE_DIFF_MAX_EDITS });
  if (!parts) return { added: fresh.length, removed: old.length };
  const count = (side: 'added' | 'removed') => parts.reduce((sum, part) => sum + (part[side] ? part.count : 0), 0);
  return { added: count('added'), removed: count('removed') };
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
