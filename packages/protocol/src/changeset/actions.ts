import type { Static } from 'typebox';
import { ChangesetClearedAction } from './actions/cleared.js';
import { ChangesetFileRemovedAction } from './actions/file-removed.js';
import { ChangesetFileSetAction } from './actions/file-set.js';
import { ChangesetOperationsChangedAction } from './actions/operations-changed.js';
import { ChangesetStatusChangedAction } from './actions/status-changed.js';

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
