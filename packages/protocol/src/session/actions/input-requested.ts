import { type Static, Type } from 'typebox';
import { SessionInputRequest } from '../state/session-input-request.js';

export const SessionInputRequestedAction = Type.Object(
  { type: Type.Literal('session/inputRequested'), request: SessionInputRequest },
  {
    $id: 'SessionInputRequestedAction',
    description: 'Something must be answered; the same id again amends the question.',
  },
);
export type SessionInputRequestedAction = Static<typeof SessionInputRequestedAction>;
