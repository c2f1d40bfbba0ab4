import { type Static, Type } from 'typebox';
import { FileEdit } from '../../common/file-edit.js';

export const ToolResultFileEditContent = Type.Object(
  { type: Type.Literal('fileEdit'), ...FileEdit.properties },
  { $id: 'ToolResultFileEditContent', description: 'A file edit that a tool made.' },
);
export type ToolResultFileEditContent = Static<typeof ToolResultFileEditContent>;
