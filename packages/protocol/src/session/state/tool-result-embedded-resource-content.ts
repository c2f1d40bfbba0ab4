import { type Static, Type } from 'typebox';

export const ToolResultEmbeddedResourceContent = Type.Object(
  {
    type: Type.Literal('embeddedResource'),
    data: Type.String({ description: 'The bytes, in base64.' }),
    contentType: Type.String(),
  },
  { $id: 'ToolResultEmbeddedResourceContent', description: 'Bytes from a tool, in base64.' },
);
export type ToolResultEmbeddedResourceContent = Static<typeof ToolResultEmbeddedResourceContent>;
