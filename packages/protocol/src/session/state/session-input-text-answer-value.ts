import { type Static, Type } from 'typebox';

export const SessionInputTextAnswerValue = Type.Object(
  { kind: Type.Literal('text'), value: Type.String({ description: 'The words.' }) },
  { $id: 'SessionInputTextAnswerValue', description: 'Words.' },
);
export type SessionInputTextAnswerValue = Static<typeof SessionInputTextAnswerValue>;
