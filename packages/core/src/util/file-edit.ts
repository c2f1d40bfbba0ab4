/** Describes a change of a file to clients: where it is, what it was, what it becomes, and how many lines differ. */
import { pathToFileURL } from 'node:url';
import type { ContentRef, FileEdit, FileEditDiff, ToolResultContent } from '@atrium/protocol/ahp-1';
import type * as Diff from 'diff';
import { packageOnUse } from './package-on-use.js';
import type { InsidePath } from './paths.js';
import { count } from './text.js';

const diff = packageOnUse<typeof Diff>('diff', import.meta.url);

/** Beyond so many edits the middle of the text counts as rewritten: a smaller count is not worth the time. */
export const LINE_DIFF_MAX_EDITS = 1_000;
/** Content up to here travels with the edit, as a `data:` URI: every client gets it, and the log keeps it. */
export const EDIT_INLINE_MAX_BYTES = 32 * 1024;

export interface TextChange {
  readonly file: InsidePath;
  /** Absent for a new file; without a text when what was there is not (short) text. */
  readonly before?: { readonly text: string | undefined };
  readonly after: string;
}

/**
 * A change that is still to come: the file holds the old content, the new one travels along. New content that is too
 * long is named by the file as well, which will hold it once the change is made.
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

/** A change that is made: the file holds the new content. Says nothing when the old one is too long to travel along. */
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
