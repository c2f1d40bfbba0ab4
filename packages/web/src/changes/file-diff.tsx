/** The difference in one file. Both sides are read when somebody unfolds it, not before. */
import type { FileEdit } from '@atrium/protocol';
import type { ReactNode } from 'react';
import { DiffLines } from '../diff/diff-lines.js';
import type { Piece } from '../diff/pieces.js';
import { bytesText } from '../model/format.js';
import { useEditTexts } from '../parts/use-edit-texts.js';
import { fileUri } from './file-state.js';

/** Comparing longer texts would be felt. */
const SIDE_MAX_BYTES = 2 ** 20;

interface Props {
  readonly edit: FileEdit;
  /** What can be done with one piece of it. */
  readonly pieceActions: ((piece: Piece) => ReactNode) | undefined;
}

export function FileDiff(props: Props) {
  const { edit } = props;
  const bytes = Math.max(edit.before?.content.sizeHint ?? 0, edit.after?.content.sizeHint ?? 0);
  if (bytes > SIDE_MAX_BYTES)
    return <p className="hint">With {bytesText(bytes)} it is too large to be compared here.</p>;
  return <Difference {...props} />;
}

function Difference({ edit, pieceActions }: Props) {
  const texts = useEditTexts(edit, undefined);
  if (texts === 'loading') return <p className="hint">Loading …</p>;
  if (texts === 'unknown') return <p className="hint">The content is not available any more.</p>;
  const { before, after } = texts;
  if (before.includes('\0') || after.includes('\0')) return <p className="hint">This file is not text.</p>;
  if (before === after) return <p className="hint">The content is the same; something else about the file changed.</p>;
  return <DiffLines {...texts} path={fileUri(edit)} pieceActions={pieceActions} />;
}
