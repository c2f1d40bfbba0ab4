/** The difference in one file. Both sides are read when somebody unfolds it, not before. */
import type { FileEdit } from '@atrium/protocol';
import { bytesText } from '../model/format.js';
import { DiffLines } from '../parts/edits.js';
import { useEditTexts } from '../parts/use-edit-texts.js';

/** Comparing longer texts would be felt. */
const SIDE_MAX_BYTES = 2 ** 20;

export function FileDiff({ edit }: { readonly edit: FileEdit }) {
  const bytes = Math.max(edit.before?.content.sizeHint ?? 0, edit.after?.content.sizeHint ?? 0);
  if (bytes > SIDE_MAX_BYTES)
    return <p className="hint">With {bytesText(bytes)} it is too large to be compared here.</p>;
  return <Difference edit={edit} />;
}

function Difference({ edit }: { readonly edit: FileEdit }) {
  const texts = useEditTexts(edit, undefined);
  if (texts === 'loading') return <p className="hint">Loading …</p>;
  if (texts === 'unknown') return <p className="hint">The content is not available any more.</p>;
  const { before, after } = texts;
  if (before.includes('\0') || after.includes('\0')) return <p className="hint">This file is not text.</p>;
  if (before === after) return <p className="hint">The content is the same; something else about the file changed.</p>;
  return <DiffLines before={before} after={after} />;
}
