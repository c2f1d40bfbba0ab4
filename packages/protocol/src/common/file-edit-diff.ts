import { type Static, Type } from 'typebox';

export const FileEditDiff = Type.Object(
  {
    added: Type.Optional(Type.Number({ description: 'Lines.' })),
    removed: Type.Optional(Type.Number({ description: 'Lines.' })),
  },
  { $id: 'FileEditDiff', description: 'How many lines an edit adds and removes.' },
);
export type FileEditDiff = Static<typeof FileEditDiff>;
