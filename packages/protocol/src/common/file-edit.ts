import { type Static, Type } from 'typebox';
import { FileEditDiff } from './file-edit-diff.js';
import { FileEditSide } from './file-edit-side.js';

export const FileEdit = Type.Object(
  { before: Type.Optional(FileEditSide), after: Type.Optional(FileEditSide), diff: Type.Optional(FileEditDiff) },
  {
    $id: 'FileEdit',
    description: 'A change of one file: only `before` deletes, only `after` creates, both edit or rename.',
  },
);
export type FileEdit = Static<typeof FileEdit>;
