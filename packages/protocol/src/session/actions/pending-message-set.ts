import { type Static, Type } from 'typebox';
import { PendingMessageKind } from '../state/pending-message-kind.js';
import { UserMessage } from '../state/user-message.js';

export const SessionPendingMessageSetAction = Type.Object(
  {
    type: Type.Literal('session/pendingMessageSet'),
    kind: PendingMessageKind,
    id: Type.String(),
    userMessage: UserMessage,
  },
  {
    $id: 'SessionPendingMessageSetAction',
    description: 'A message waits: to steer the running turn, or for the next one.',
  },
);
export type SessionPendingMessageSetAction = Static<typeof SessionPendingMessageSetAction>;
