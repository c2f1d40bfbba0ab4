import { type Static, Type } from 'typebox';
import { ErrorInfo } from '../../common/error-info.js';

export const SessionCreationFailedAction = Type.Object(
  { type: Type.Literal('session/creationFailed'), error: ErrorInfo },
  { $id: 'SessionCreationFailedAction', description: 'The backend could not be started.' },
);
export type SessionCreationFailedAction = Static<typeof SessionCreationFailedAction>;
