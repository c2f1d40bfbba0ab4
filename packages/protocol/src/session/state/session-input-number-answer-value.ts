import { type Static, Type } from 'typebox';

export const SessionInputNumberAnswerValue = Type.Object(
  { kind: Type.Literal('number'), value: Type.Number({ description: 'The number.' }) },
  { $id: 'SessionInputNumberAnswerValue', description: 'A number.' },
);
export type SessionInputNumberAnswerValue = Static<typeof SessionInputNumberAnswerValue>;
