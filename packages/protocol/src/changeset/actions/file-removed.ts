import { type Static, Type } from 'typebox';

export const ChangesetFileRemovedAction = Type.Object(
  {
    type: Type.Literal('changeset/fileRemoved'),
    fileId: Type.String({ description: 'The file, by its id in the changeset.' }),
  },
  { $id: 'ChangesetFileRemovedAction', description: 'A file is no longer changed.' },
);
export type ChangesetFileRemovedAction = Static<typeof ChangesetFileRemovedAction>;
