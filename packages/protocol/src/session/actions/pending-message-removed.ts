import { type Static, Type } from 'typebox';
import { PendingMessageKind } from '../state/pending-message-kind.js';

export const SessionPendingMessageRemovedAction = Type.Object(
  { type: Type.Literal('session/pendingMessageRemoved'), kind: PendingMessageKind, id: Type.String() },
  { $id: 'SessionPendingMessageRemovedAction', description: 'A waiting message was taken back or used.' },
);
export type SessionPendingMessageRemovedAction = Static<typeof SessionPendingMessageRemovedAction>;
