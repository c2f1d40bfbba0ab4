import { type Static, Type } from 'typebox';

export const SessionTurnCancelledAction = Type.Object(
  { type: Type.Literal('session/turnCancelled'), turnId: Type.String() },
  { $id: 'SessionTurnCancelledAction', description: 'The turn was stopped.' },
);
export type SessionTurnCancelledAction = Static<typeof SessionTurnCancelledAction>;
