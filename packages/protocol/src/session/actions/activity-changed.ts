import { type Static, Type } from 'typebox';

export const SessionActivityChangedAction = Type.Object(
  {
    type: Type.Literal('session/activityChanged'),
    activity: Type.Optional(Type.String({ description: 'In a few words; absent when it does nothing.' })),
  },
  { $id: 'SessionActivityChangedAction', description: 'What the session is doing now, in a few words.' },
);
export type SessionActivityChangedAction = Static<typeof SessionActivityChangedAction>;
