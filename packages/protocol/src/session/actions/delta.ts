import { type Static, Type } from 'typebox';

export const SessionDeltaAction = Type.Object(
  {
    type: Type.Literal('session/delta'),
    turnId: Type.String(),
    partId: Type.String({ description: 'The part of the answer that grows.' }),
    content: Type.String({ description: 'The text to append.' }),
  },
  { $id: 'SessionDeltaAction', description: 'Text appended to a markdown part.' },
);
export type SessionDeltaAction = Static<typeof SessionDeltaAction>;
