import { type Static, Type } from 'typebox';
import { FileEdit } from '../../common/file-edit.js';
import { Meta } from '../../common/meta.js';

export const ChangesetFile = Type.Object(
  { id: Type.String(), edit: FileEdit, _meta: Type.Optional(Meta) },
  { $id: 'ChangesetFile', description: 'One changed file.' },
);
export type ChangesetFile = Static<typeof ChangesetFile>;
