import { type Static, Type } from 'typebox';

export const SessionInputSelectedAnswerValue = Type.Object(
  {
    kind: Type.Literal('selected'),
    value: Type.String({ description: 'The id of the option.' }),
    freeformValues: Type.Optional(Type.Array(Type.String())),
  },
  { $id: 'SessionInputSelectedAnswerValue', description: 'One choice.' },
);
export type SessionInputSelectedAnswerValue = Static<typeof SessionInputSelectedAnswerValue>;
