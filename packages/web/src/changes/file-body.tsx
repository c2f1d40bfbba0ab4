/** An unfolded file: what can be done with it and with each piece of it, and its diff. */
import type { ChangesetFile, ChangesetOperation } from '@atrium/protocol';
import { type Piece, pieceWords } from '../diff/pieces.js';
import { FileLink } from '../files/file-link.js';
import { FileDiff } from './file-diff.js';
import { fileUri, stateOf } from './file-state.js';
import { OperationButtons } from './operation-buttons.js';
import type { Operations } from './use-operation.js';

interface Props {
  readonly file: ChangesetFile;
  readonly name: string;
  /** Everything that can be done here; the file and its pieces offer what is meant for them. */
  readonly operations: readonly ChangesetOperation[];
  readonly run: Operations;
}

export function FileBody({ file: { edit }, name, operations, run }: Props) {
  const resource = fileUri(edit);
  const forPieces = operations.filter(({ scopes }) => scopes.includes('range'));
  // Lines can be taken only from a file that has both sides under one name.
  const isPiecewise = forPieces.length > 0 && stateOf(edit).letter === 'M';
  const wishPiece = (operation: ChangesetOperation, piece: Piece) =>
    run.wish({ operation, what: `${name}: ${pieceWords(piece)}`, target: { kind: 'range', resource, ...piece } });
  const pieceActions = (piece: Piece) => (
    <OperationButtons
      operations={forPieces}
      isBusy={run.isBusy}
      about={pieceWords(piece)}
      onWish={(operation) => wishPiece(operation, piece)}
    />
  );
  return (
    <div className="change-body">
      <div className="change-actions">
        {edit.after && <FileLink uri={edit.after.uri} label="Open file" />}
        <OperationButtons
          operations={operations.filter(({ scopes }) => scopes.includes('resource'))}
          isBusy={run.isBusy}
          onWish={(operation) => run.wish({ operation, what: name, target: { kind: 'resource', resource } })}
        />
      </div>
      <div className="diff">
        <FileDiff edit={edit} pieceActions={isPiecewise ? pieceActions : undefined} />
      </div>
    </div>
  );
}
