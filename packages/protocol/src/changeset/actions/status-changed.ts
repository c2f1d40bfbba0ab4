import { type Static, Type } from 'typebox';
import { ErrorInfo } from '../../common/error-info.js';
import { ChangesetStatus } from '../state/changeset-status.js';

export const ChangesetStatusChangedAction = Type.Object(
  { type: Type.Literal('changeset/statusChanged'), status: ChangesetStatus, error: Type.Optional(ErrorInfo) },
  { $id: 'ChangesetStatusChangedAction', description: 'The list of changes is being computed, ready, or failed.' },
);
export type ChangesetStatusChangedAction = Static<typeof ChangesetStatusChangedAction>;
