import { type Static, Type } from 'typebox';

export const MarkdownResponsePart = Type.Object(
  { kind: Type.Literal('markdown'), id: Type.String(), content: Type.String({ description: 'The text so far.' }) },
  { $id: 'MarkdownResponsePart', description: 'Text of the answer; `session/delta` appends to it.' },
);
export type MarkdownResponsePart = Static<typeof MarkdownResponsePart>;
