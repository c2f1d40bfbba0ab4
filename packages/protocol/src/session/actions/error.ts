import { type Static, Type } from 'typebox';
import { ErrorInfo } from '../../common/error-info.js';

export const SessionErrorAction = Type.Object(
  { type: Type.Literal('session/error'), turnId: Type.String(), error: ErrorInfo },
  { $id: 'SessionErrorAction', description: 'The turn failed.' },
);
export type SessionErrorAction = Static<typeof SessionErrorAction>;
