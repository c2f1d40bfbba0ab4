import { type Static, Type } from 'typebox';
import { URI } from '../../common/uri.js';

export const ToolResultResourceContent = Type.Object(
  {
    type: Type.Literal('resource'),
    uri: URI,
    sizeHint: Type.Optional(Type.Number()),
    contentType: Type.Optional(Type.String()),
  },
  { $id: 'ToolResultResourceContent', description: 'Content of a tool that is kept elsewhere.' },
);
export type ToolResultResourceContent = Static<typeof ToolResultResourceContent>;
