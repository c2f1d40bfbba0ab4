import { type Static, Type } from 'typebox';

export const RootActiveSessionsChangedAction = Type.Object(
  {
    type: Type.Literal('root/activeSessionsChanged'),
    activeSessions: Type.Number({ description: 'How many sessions are not disposed.' }),
  },
  { $id: 'RootActiveSessionsChangedAction', description: 'The number of sessions that are not disposed changed.' },
);
export type RootActiveSessionsChangedAction = Static<typeof RootActiveSessionsChangedAction>;
