/** The actions of a changeset. */
import { type Static, Type } from 'typebox';
import { ChangesetClearedAction, ChangesetFileRemovedAction } from '../../changeset/actions.js';
import { ErrorInfo } from '../common/types.js';
import { ChangesetFile, ChangesetOperation, ChangesetOperationStatus, ChangesetStatus } from './state.js';

export { ChangesetClearedAction, ChangesetFileRemovedAction };

export const ChangesetStatusChangedAction = Type.Object(
  { type: Type.Literal('changeset/statusChanged'), status: ChangesetStatus, error: Type.Optional(ErrorInfo) },
  { $id: 'ChangesetStatusChangedAction', description: 'The status of the list changed.' },
);
export type ChangesetStatusChangedAction = Static<typeof ChangesetStatusChangedAction>;

export const ChangesetFileSetAction = Type.Object(
  { type: Type.Literal('changeset/fileSet'), file: ChangesetFile },
  { $id: 'ChangesetFileSetAction', description: 'A file was added to the list, or its entry changed.' },
);
export type ChangesetFileSetAction = Static<typeof ChangesetFileSetAction>;

export const ChangesetFilesReviewChangedAction = Type.Object(
  {
    type: Type.Literal('changeset/filesReviewChanged'),
    files: Type.Array(Type.String(), { description: 'The files, by their ids in the changeset.' }),
    reviewed: Type.Boolean({ description: 'Whether a person has reviewed them.' }),
  },
  { $id: 'ChangesetFilesReviewChangedAction', description: 'Files were marked as reviewed, or as not reviewed.' },
);
export type ChangesetFilesReviewChangedAction = Static<typeof ChangesetFilesReviewChangedAction>;

export const ChangesetContentChangedAction = Type.Object(
  {
    type: Type.Literal('changeset/contentChanged'),
    files: Type.Array(ChangesetFile),
    operations: Type.Optional(Type.Array(ChangesetOperation)),
    error: Type.Optional(ErrorInfo),
  },
  {
    $id: 'ChangesetContentChangedAction',
    description: 'The content changed; carries all files. Without `operations`, those stay.',
  },
);
export type ChangesetContentChangedAction = Static<typeof ChangesetContentChangedAction>;

export const ChangesetOperationsChangedAction = Type.Object(
  { type: Type.Literal('changeset/operationsChanged'), operations: Type.Optional(Type.Array(ChangesetOperation)) },
  { $id: 'ChangesetOperationsChangedAction', description: 'The available operations changed; carries all of them.' },
);
export type ChangesetOperationsChangedAction = Static<typeof ChangesetOperationsChangedAction>;

export const ChangesetOperationStatusChangedAction = Type.Object(
  {
    type: Type.Literal('changeset/operationStatusChanged'),
    operationId: Type.String(),
    status: ChangesetOperationStatus,
    error: Type.Optional(ErrorInfo),
  },
  { $id: 'ChangesetOperationStatusChangedAction', description: 'An operation started, ended or failed.' },
);
export type ChangesetOperationStatusChangedAction = Static<typeof ChangesetOperationStatusChangedAction>;

/** Every action of the changeset channel, by its type. */
export const changesetActions = {
  'changeset/statusChanged': ChangesetStatusChangedAction,
  'changeset/fileSet': ChangesetFileSetAction,
  'changeset/fileRemoved': ChangesetFileRemovedAction,
  'changeset/filesReviewChanged': ChangesetFilesReviewChangedAction,
  'changeset/contentChanged': ChangesetContentChangedAction,
  'changeset/operationsChanged': ChangesetOperationsChangedAction,
  'changeset/operationStatusChanged': ChangesetOperationStatusChangedAction,
  'changeset/cleared': ChangesetClearedAction,
} as const;

export type ChangesetActionType = keyof typeof changesetActions;
export type ChangesetActionMap = { [Type in ChangesetActionType]: Static<(typeof changesetActions)[Type]> };
export type ChangesetAction = ChangesetActionMap[ChangesetActionType];
