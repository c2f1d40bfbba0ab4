import { type Static, Type } from 'typebox';

export const SessionIsReadChangedAction = Type.Object(
  {
    type: Type.Literal('session/isReadChanged'),
    isRead: Type.Boolean({ description: 'Whether somebody has seen what happened last.' }),
  },
  { $id: 'SessionIsReadChangedAction', description: 'The session was read, or marked unread.' },
);
export type SessionIsReadChangedAction = Static<typeof SessionIsReadChangedAction>;
