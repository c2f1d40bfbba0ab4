import { type Static, Type } from 'typebox';
import { URI } from './uri.js';

export const ContentRef = Type.Object(
  { uri: URI, sizeHint: Type.Optional(Type.Number()), contentType: Type.Optional(Type.String()) },
  { $id: 'ContentRef', description: 'Content that is stored elsewhere and fetched with `resourceRead`.' },
);
export type ContentRef = Static<typeof ContentRef>;
