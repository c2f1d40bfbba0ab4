import { type Static, Type } from 'typebox';

export const SessionReasoningAction = Type.Object(
  {
    type: Type.Literal('session/reasoning'),
    turnId: Type.String(),
    partId: Type.String({ description: 'The part of the answer that grows.' }),
    content: Type.String({ description: 'The text to append.' }),
  },
  { $id: 'SessionReasoningAction', description: 'Text appended to a reasoning part.' },
);
export type SessionReasoningAction = Static<typeof SessionReasoningAction>;
