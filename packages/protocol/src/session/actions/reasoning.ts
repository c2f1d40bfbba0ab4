import { type Static, Type } from 'typebox';

export const SessionReasoningAction = Type.Object(
  { type: Type.Literal('session/reasoning'), turnId: Type.String(), partId: Type.String(), content: Type.String() },
  { $id: 'SessionReasoningAction', description: 'Text appended to a reasoning part.' },
);
export type SessionReasoningAction = Static<typeof SessionReasoningAction>;
