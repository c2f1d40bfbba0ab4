import { type Static, Type } from 'typebox';

export const SessionQueuedMessagesReorderedAction = Type.Object(
  {
    type: Type.Literal('session/queuedMessagesReordered'),
    order: Type.Array(Type.String(), { description: 'Ids of waiting messages.' }),
  },
  {
    $id: 'SessionQueuedMessagesReorderedAction',
    description: 'Queued messages in a new order; those not named keep theirs, at the end.',
  },
);
export type SessionQueuedMessagesReorderedAction = Static<typeof SessionQueuedMessagesReorderedAction>;
