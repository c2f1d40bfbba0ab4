/** Describes a change of a file to clients: where it is, what it was, what it becomes, and how many lines differ. */
import { pathToFileURL } from 'node:url';
import type { ContentRef, FileEdit, FileEditDiff, ToolResultContent } from '@atrium/protocol/ahp-1';
import type * as Diff from 'diff';
import { packageOnUse } from './package-on-use.js';
import type { InsidePath } from './paths.js';
import { count } from './text.js';

const diff = packageOnUse<typeof Diff>('diff', import.meta.url);

/** If more edits are needed, the middle of the text counts as rewritten: a smaller count is not worth the time. */
export const LINE_DIFF_MAX_EDITS = 1_000;
/** Content up to this size is sent with the edit as a `data:` URI: every client gets it, and the log keeps it. */
export const EDIT_INLINE_MAX_BYTES = 32 * 1024;

export interface TextChange {
  readonly file: InsidePath;
  /** Absent for a new file; without a text when the old content was not (short) text. */
  readonly before?: { readonly text: string | undefined };
  readonly after: string;
}

/**
 * Describes a change that has not been made: the file still has the old content, and the edit carries the new one. If
 * the new content is too long, the edit names the file, which will have it after the change.
 */
export function comingEdit({ file, before, after }: TextChange): FileEdit {
  const uri = pathToFileURL(file.real).href;
  const content = inline(after) ?? { uri, sizeHint: Buffer.byteLength(after) };
  return {
    ...(before && { before: { uri, content: { uri } } }),
    after: { uri, content },
    ...diffOf({ before, after }),
  };
}

/**
 * Describes a change that has been made: the file has the new content. Empty when the old content is too long to send.
 */
export function doneEdit({ file, before, after }: TextChange): ToolResultContent[] {
  const uri = pathToFileURL(file.real).href;
  const old = before && inline(before.text);
  if (before && !old) return [];
  return [
    {
      type: 'fileEdit',
      ...(old && { before: { uri, content: old } }),
      after: { uri, content: { uri } },
      ...diffOf({ before, after }),
    },
  ];
}

/** `3 lines added, 1 line removed`. */
export function diffText({ before, after }: Pick<TextChange, 'before' | 'after'>): string {
  const { diff } = diffOf({ before, after });
  if (!diff) return 'all of it replaced';
  return `${count(diff.added, 'line')} added, ${count(diff.removed, 'line')} removed`;
}

function diffOf({ before, after }: { before: TextChange['before'] | undefined; after: string }) {
  if (before && before.text === undefined) return {};
  return { diff: lineDiff(before?.text ?? '', after) };
}

function inline(text: string | undefined): ContentRef | undefined {
  const bytes = Buffer.from(text ?? '');
  if (text === undefined || bytes.length > EDIT_INLINE_MAX_BYTES) return undefined;
  const uri = `data:text/plain;charset=utf-8;base64,${bytes.toString('base64')}`;
  return { uri, sizeHint: bytes.length, contentType: 'text/plain' };
}

/** Counts the lines that a change adds and removes. */
export function lineDiff(before: string, after: string): Required<FileEditDiff> {
  const [old, fresh] = withoutCommonEnds(linesOf(before), linesOf(after));
  const parts = diff().diffArrays([...old], [...fresh], { maxEditLength: LINE_DIFF_MAX_EDITS });
  if (!parts) return { added: fresh.length, removed: old.length };
  const count = (side: 'added' | 'removed') => parts.reduce((sum, part) => sum + (part[side] ? part.count : 0), 0);
  return { added: count('added'), removed: count('removed') };
}

/** Lines with their line endings, so that a changed ending counts as a change. */
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
