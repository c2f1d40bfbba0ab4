import { type Static, Type } from 'typebox';
import { UserMessage } from '../state/user-message.js';

export const SessionTurnStartedAction = Type.Object(
  {
    type: Type.Literal('session/turnStarted'),
    turnId: Type.String({ description: 'A new id, chosen by whoever starts the turn.' }),
    userMessage: UserMessage,
    queuedMessageId: Type.Optional(Type.String({ description: 'The waiting message that this turn takes up.' })),
  },
  {
    $id: 'SessionTurnStartedAction',
    description: 'A message starts a turn; `queuedMessageId` takes it out of the waiting ones.',
  },
);
export type SessionTurnStartedAction = Static<typeof SessionTurnStartedAction>;
