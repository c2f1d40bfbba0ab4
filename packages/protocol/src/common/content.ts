/** Places in texts, content kept elsewhere, and edits of files. */
import { type Static, Type } from 'typebox';
import { URI } from './uri.js';

export const ContentRef = Type.Object(
  { uri: URI, sizeHint: Type.Optional(Type.Number()), contentType: Type.Optional(Type.String()) },
  { $id: 'ContentRef', description: 'Content that is stored elsewhere and fetched with `resourceRead`.' },
);
export type ContentRef = Static<typeof ContentRef>;

export const TextPosition = Type.Object(
  {
    line: Type.Number({ description: 'From zero.' }),
    character: Type.Number({ description: 'From zero, in UTF-16 units.' }),
  },
  { $id: 'TextPosition', description: 'A place in a text; line and character count from zero.' },
);
export type TextPosition = Static<typeof TextPosition>;

export const TextRange = Type.Object(
  { start: TextPosition, end: TextPosition },
  { $id: 'TextRange', description: 'A span of text; the end is exclusive.' },
);
export type TextRange = Static<typeof TextRange>;

export const TextSelection = Type.Object(
  { range: TextRange },
  { $id: 'TextSelection', description: 'What a person has selected in a text resource.' },
);
export type TextSelection = Static<typeof TextSelection>;

export const FileEditDiff = Type.Object(
  {
    added: Type.Optional(Type.Number({ description: 'Lines.' })),
    removed: Type.Optional(Type.Number({ description: 'Lines.' })),
  },
  { $id: 'FileEditDiff', description: 'How many lines an edit adds and removes.' },
);
export type FileEditDiff = Static<typeof FileEditDiff>;

export const FileEditSide = Type.Object(
  { uri: URI, content: ContentRef },
  { $id: 'FileEditSide', description: 'One side of a file edit: where the file is and where its content can be read.' },
);
export type FileEditSide = Static<typeof FileEditSide>;

export const FileEdit = Type.Object(
  { before: Type.Optional(FileEditSide), after: Type.Optional(FileEditSide), diff: Type.Optional(FileEditDiff) },
  {
    $id: 'FileEdit',
    description: 'A change of one file: only `before` deletes, only `after` creates, both edit or rename.',
  },
);
export type FileEdit = Static<typeof FileEdit>;
