import { type Static, Type } from 'typebox';
import { FileEdit } from '../../common/file-edit.js';

export const FileEditList = Type.Object(
  { items: Type.Array(FileEdit) },
  { $id: 'FileEditList', description: 'The edits a call is about to make, shown before it is confirmed.' },
);
export type FileEditList = Static<typeof FileEditList>;
