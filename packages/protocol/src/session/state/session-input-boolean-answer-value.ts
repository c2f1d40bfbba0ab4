import { type Static, Type } from 'typebox';

export const SessionInputBooleanAnswerValue = Type.Object(
  { kind: Type.Literal('boolean'), value: Type.Boolean({ description: 'Yes or no.' }) },
  { $id: 'SessionInputBooleanAnswerValue', description: 'Yes or no.' },
);
export type SessionInputBooleanAnswerValue = Static<typeof SessionInputBooleanAnswerValue>;
