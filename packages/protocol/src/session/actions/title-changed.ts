import { type Static, Type } from 'typebox';

export const SessionTitleChangedAction = Type.Object(
  { type: Type.Literal('session/titleChanged'), title: Type.String() },
  { $id: 'SessionTitleChangedAction', description: 'The session has a new title.' },
);
export type SessionTitleChangedAction = Static<typeof SessionTitleChangedAction>;
