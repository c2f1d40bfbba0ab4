import { type Static, Type } from 'typebox';
import { SessionActiveClient } from '../state/session-active-client.js';

export const SessionActiveClientChangedAction = Type.Object(
  {
    type: Type.Literal('session/activeClientChanged'),
    activeClient: Type.Optional(Type.Union([SessionActiveClient, Type.Null()])),
  },
  { $id: 'SessionActiveClientChangedAction', description: 'A client takes the active role, or gives it up (`null`).' },
);
export type SessionActiveClientChangedAction = Static<typeof SessionActiveClientChangedAction>;
