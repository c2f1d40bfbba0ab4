import { type Static, Type } from 'typebox';
import { URI } from '../../common/uri.js';

export const ResourceResponsePart = Type.Object(
  {
    kind: Type.Literal('contentRef'),
    uri: URI,
    sizeHint: Type.Optional(Type.Number()),
    contentType: Type.Optional(Type.String()),
  },
  { $id: 'ResourceResponsePart', description: 'Content of the answer that is kept elsewhere.' },
);
export type ResourceResponsePart = Static<typeof ResourceResponsePart>;
