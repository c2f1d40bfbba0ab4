import { type Static, Type } from 'typebox';
import { ChangesetOperation } from '../state/changeset-operation.js';

export const ChangesetOperationsChangedAction = Type.Object(
  { type: Type.Literal('changeset/operationsChanged'), operations: Type.Optional(Type.Array(ChangesetOperation)) },
  { $id: 'ChangesetOperationsChangedAction', description: 'What can be done with the changes.' },
);
export type ChangesetOperationsChangedAction = Static<typeof ChangesetOperationsChangedAction>;
