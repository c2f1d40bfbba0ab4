import { type Static, Type } from 'typebox';

export const ReasoningResponsePart = Type.Object(
  { kind: Type.Literal('reasoning'), id: Type.String(), content: Type.String({ description: 'The text so far.' }) },
  { $id: 'ReasoningResponsePart', description: "The model's thinking; `session/reasoning` appends to it." },
);
export type ReasoningResponsePart = Static<typeof ReasoningResponsePart>;
