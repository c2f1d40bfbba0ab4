/** One changed file: its change in a line; unfolded, its operations and its diff. */
import type { ChangesetFile, ChangesetOperation, FileEdit } from '@atrium/protocol/ahp-1';
import { type ReactNode, useState } from 'react';
import { type Piece, pieceWords } from '../diff/diff.js';
import { DiffLines } from '../diff/diff-lines.js';
import { FileLink } from '../files/file-link.js';
import { useOpenSession } from '../host/context.js';
import { bytesText } from '../model/format.js';
import { useEditTexts } from '../parts/edits.js';
import { Icon } from '../ui/icons.js';
import { useComments } from './annotations.js';
import { FileComments } from './file-comments.js';
import { fileName, fileUri, stagedWord, stateOf } from './file-state.js';
import { isInvocable, type Operations } from './use-operation.js';

interface Props {
  readonly file: ChangesetFile;
  readonly folder: string | undefined;
  /** All operations of the view. */
  readonly operations: readonly ChangesetOperation[];
  readonly run: Operations;
}

export function FileRow({ file, folder, operations, run }: Props) {
  const [isOpen, setOpen] = useState(false);
  const { edit } = file;
  const { letter, word } = stateOf(edit);
  const name = fileName(edit, folder);
  const staged = stagedWord(file);
  return (
    <li className={`change ${isOpen ? 'is-open' : ''}`}>
      <button type="button" className="change-head" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span className="twist">
          <Icon name="chevron" />
        </span>
        <span className={`letter is-${letter}`} title={word}>
          <span aria-hidden="true">{letter}</span>
          <span className="visually-hidden">{word}</span>
        </span>
        <span className="path" title={name}>
          {name}
        </span>
        {staged && <span className="tag">{staged}</span>}
        {edit.diff?.added !== undefined && edit.diff.added > 0 && <span className="added">+{edit.diff.added}</span>}
        {edit.diff?.removed !== undefined && edit.diff.removed > 0 && (
          <span className="removed">−{edit.diff.removed}</span>
        )}
      </button>
      {isOpen && <FileBody file={file} name={name} operations={operations} run={run} />}
    </li>
  );
}

interface FileBodyProps {
  readonly file: ChangesetFile;
  readonly name: string;
  /** All operations of the view; the file and its pieces offer those that apply to them. */
  readonly operations: readonly ChangesetOperation[];
  readonly run: Operations;
}

/** An unfolded file: its operations, those of each piece, and its diff. */
function FileBody({ file: { edit }, name, operations, run }: FileBodyProps) {
  const comments = useComments(useOpenSession());
  const [line, setLine] = useState<number>();
  const isCommentable = comments !== undefined && edit.after !== undefined;
  const resource = fileUri(edit);
  const forPieces = operations.filter(({ scopes }) => scopes.includes('range'));
  // Operations on lines need a file that has both sides under one name.
  const isPiecewise = forPieces.length > 0 && stateOf(edit).letter === 'M';
  const requestPiece = (operation: ChangesetOperation, piece: Piece) =>
    run.request({ operation, what: `${name}: ${pieceWords(piece)}`, target: { kind: 'range', resource, ...piece } });
  const pieceActions = (piece: Piece) => (
    <OperationButtons
      operations={forPieces}
      isBusy={run.isBusy}
      about={pieceWords(piece)}
      onRequest={(operation) => requestPiece(operation, piece)}
    />
  );
  return (
    <div className="change-body">
      <div className="change-actions">
        {edit.after && <FileLink uri={edit.after.uri} label="Open file" />}
        {isCommentable && (
          <button type="button" className="quiet small" onClick={() => setLine(line ?? 1)}>
            Comment<span className="visually-hidden"> on {name}</span>
          </button>
        )}
        <OperationButtons
          operations={operations.filter(({ scopes }) => scopes.includes('resource'))}
          isBusy={run.isBusy}
          onRequest={(operation) => run.request({ operation, what: name, target: { kind: 'resource', resource } })}
        />
      </div>
      <div className={`diff ${isCommentable ? 'is-commentable' : ''}`}>
        <FileDiff
          edit={edit}
          pieceActions={isPiecewise ? pieceActions : undefined}
          onLine={isCommentable ? (clicked) => setLine(clicked + 1) : undefined}
        />
      </div>
      {isCommentable && <FileComments comments={comments} resource={resource} line={line} onLine={setLine} />}
    </div>
  );
}

interface OperationButtonsProps {
  readonly operations: readonly ChangesetOperation[];
  readonly isBusy: boolean;
  /** The object of the operation, for screen readers, if only the layout shows it. */
  readonly about?: string;
  readonly onRequest: (operation: ChangesetOperation) => void;
}

/** The operations for one file, or for one piece of it. */
function OperationButtons({ operations, isBusy, about, onRequest }: OperationButtonsProps) {
  return operations.map((operation) => (
    <button
      key={operation.id}
      type="button"
      className="quiet small"
      title={operation.description}
      aria-label={about && `${operation.label}: ${about}`}
      aria-disabled={isBusy || !isInvocable(operation)}
      onClick={() => onRequest(operation)}
    >
      {operation.label}
    </button>
  ));
}

/** Comparing longer texts would be noticeably slow. */
const SIDE_MAX_BYTES = 2 ** 20;

interface FileDiffProps {
  readonly edit: FileEdit;
  /** The operations on one piece. */
  readonly pieceActions: ((piece: Piece) => ReactNode) | undefined;
  readonly onLine: ((line: number) => void) | undefined;
}

/** The diff of one file. The page reads both sides only when the file is unfolded. */
function FileDiff(props: FileDiffProps) {
  const { edit } = props;
  const bytes = Math.max(edit.before?.content.sizeHint ?? 0, edit.after?.content.sizeHint ?? 0);
  if (bytes > SIDE_MAX_BYTES)
    return <p className="hint">With {bytesText(bytes)} it is too large to be compared here.</p>;
  return <Difference {...props} />;
}

function Difference({ edit, pieceActions, onLine }: FileDiffProps) {
  const texts = useEditTexts(edit, undefined);
  if (texts === 'loading') return <p className="hint">Loading …</p>;
  if (texts === 'unknown') return <p className="hint">The content is not available any more.</p>;
  const { before, after } = texts;
  if (before.includes('\0') || after.includes('\0')) return <p className="hint">This file is not text.</p>;
  if (before === after) return <p className="hint">The content is the same; something else about the file changed.</p>;
  return <DiffLines {...texts} path={fileUri(edit)} pieceActions={pieceActions} onLine={onLine} />;
}
