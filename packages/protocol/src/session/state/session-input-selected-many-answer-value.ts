import { type Static, Type } from 'typebox';

export const SessionInputSelectedManyAnswerValue = Type.Object(
  {
    kind: Type.Literal('selected-many'),
    value: Type.Array(Type.String(), { description: 'The ids of the options.' }),
    freeformValues: Type.Optional(Type.Array(Type.String())),
  },
  { $id: 'SessionInputSelectedManyAnswerValue', description: 'Several choices.' },
);
export type SessionInputSelectedManyAnswerValue = Static<typeof SessionInputSelectedManyAnswerValue>;
