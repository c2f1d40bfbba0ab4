import { type Static, Type } from 'typebox';

export const SessionTurnCompleteAction = Type.Object(
  { type: Type.Literal('session/turnComplete'), turnId: Type.String() },
  { $id: 'SessionTurnCompleteAction', description: 'The agent is done.' },
);
export type SessionTurnCompleteAction = Static<typeof SessionTurnCompleteAction>;
