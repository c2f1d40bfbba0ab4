import { type Static, Type } from 'typebox';
import { ContentRef } from './content-ref.js';
import { URI } from './uri.js';

export const FileEditSide = Type.Object(
  { uri: URI, content: ContentRef },
  { $id: 'FileEditSide', description: 'One side of a file edit: where the file is and where its content can be read.' },
);
export type FileEditSide = Static<typeof FileEditSide>;
