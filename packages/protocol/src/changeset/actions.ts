/** The actions of a changeset. */
import { type Static, Type } from 'typebox';
import { ErrorInfo } from '../common/types.js';
import { ChangesetFile, ChangesetOperation, ChangesetStatus } from './state.js';

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

export const ChangesetFileRemovedAction = Type.Object(
  {
    type: Type.Literal('changeset/fileRemoved'),
    fileId: Type.String({ description: 'The file, by its id in the changeset.' }),
  },
  { $id: 'ChangesetFileRemovedAction', description: 'A file was removed from the list.' },
);
export type ChangesetFileRemovedAction = Static<typeof ChangesetFileRemovedAction>;

export const ChangesetOperationsChangedAction = Type.Object(
  { type: Type.Literal('changeset/operationsChanged'), operations: Type.Optional(Type.Array(ChangesetOperation)) },
  { $id: 'ChangesetOperationsChangedAction', description: 'The available operations changed; carries all of them.' },
);
export type ChangesetOperationsChangedAction = Static<typeof ChangesetOperationsChangedAction>;

export const ChangesetClearedAction = Type.Object(
  { type: Type.Literal('changeset/cleared') },
  {
    $id: 'ChangesetClearedAction',
    description: 'All files were removed: the list is computed anew, or the session has ended.',
  },
);
export type ChangesetClearedAction = Static<typeof ChangesetClearedAction>;

/** Every action of the changeset channel, by its type. */
export const changesetActions = {
  'changeset/statusChanged': ChangesetStatusChangedAction,
  'changeset/fileSet': ChangesetFileSetAction,
  'changeset/fileRemoved': ChangesetFileRemovedAction,
  'changeset/operationsChanged': ChangesetOperationsChangedAction,
  'changeset/cleared': ChangesetClearedAction,
} as const;

export type ChangesetActionType = keyof typeof changesetActions;
export type ChangesetActionMap = { [Type in ChangesetActionType]: Static<(typeof changesetActions)[Type]> };
export type ChangesetAction = ChangesetActionMap[ChangesetActionType];
