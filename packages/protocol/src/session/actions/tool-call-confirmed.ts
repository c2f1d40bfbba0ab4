import { type Static, Type } from 'typebox';
import { SessionToolCallApprovedAction } from './tool-call-approved.js';
import { SessionToolCallDeniedAction } from './tool-call-denied.js';

export const SessionToolCallConfirmedAction = Type.Union([SessionToolCallApprovedAction, SessionToolCallDeniedAction], {
  $id: 'SessionToolCallConfirmedAction',
  description: 'The answer to a question for permission.',
});
export type SessionToolCallConfirmedAction = Static<typeof SessionToolCallConfirmedAction>;
