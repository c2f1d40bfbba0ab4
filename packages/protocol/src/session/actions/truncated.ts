import { type Static, Type } from 'typebox';

export const SessionTruncatedAction = Type.Object(
  {
    type: Type.Literal('session/truncated'),
    turnId: Type.Optional(Type.String({ description: 'The last turn that stays.' })),
  },
  { $id: 'SessionTruncatedAction', description: 'History after the named turn is cut off; without one, all of it.' },
);
export type SessionTruncatedAction = Static<typeof SessionTruncatedAction>;
