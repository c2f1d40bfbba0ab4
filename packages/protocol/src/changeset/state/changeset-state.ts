import { type Static, Type } from 'typebox';
import { ErrorInfo } from '../../common/error-info.js';
import { ChangesetFile } from './changeset-file.js';
import { ChangesetOperation } from './changeset-operation.js';
import { ChangesetStatus } from './changeset-status.js';

export const ChangesetState = Type.Object(
  {
    status: ChangesetStatus,
    error: Type.Optional(ErrorInfo),
    files: Type.Array(ChangesetFile),
    operations: Type.Optional(Type.Array(ChangesetOperation)),
  },
  { $id: 'ChangesetState', description: 'A set of changes.' },
);
export type ChangesetState = Static<typeof ChangesetState>;
