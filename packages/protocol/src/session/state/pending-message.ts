import { type Static, Type } from 'typebox';
import { UserMessage } from './user-message.js';

export const PendingMessage = Type.Object(
  { id: Type.String(), userMessage: UserMessage },
  { $id: 'PendingMessage', description: 'A message that waits for its turn.' },
);
export type PendingMessage = Static<typeof PendingMessage>;
