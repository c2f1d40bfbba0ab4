import { type Static, Type } from 'typebox';
import { ChangesetFile } from '../state/changeset-file.js';

export const ChangesetFileSetAction = Type.Object(
  { type: Type.Literal('changeset/fileSet'), file: ChangesetFile },
  { $id: 'ChangesetFileSetAction', description: 'A changed file, new or replaced.' },
);
export type ChangesetFileSetAction = Static<typeof ChangesetFileSetAction>;
