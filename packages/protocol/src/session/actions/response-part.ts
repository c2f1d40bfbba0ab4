import { type Static, Type } from 'typebox';
import { ResponsePart } from '../state/response-part.js';

export const SessionResponsePartAction = Type.Object(
  { type: Type.Literal('session/responsePart'), turnId: Type.String(), part: ResponsePart },
  { $id: 'SessionResponsePartAction', description: 'A new part of the answer.' },
);
export type SessionResponsePartAction = Static<typeof SessionResponsePartAction>;
