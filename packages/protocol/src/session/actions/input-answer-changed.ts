import { type Static, Type } from 'typebox';
import { SessionInputAnswer } from '../state/session-input-answer.js';

export const SessionInputAnswerChangedAction = Type.Object(
  {
    type: Type.Literal('session/inputAnswerChanged'),
    requestId: Type.String(),
    questionId: Type.String({ description: 'One of its questions.' }),
    answer: Type.Optional(SessionInputAnswer),
  },
  {
    $id: 'SessionInputAnswerChangedAction',
    description: 'A draft or an answer to one question; without one, it is taken back.',
  },
);
export type SessionInputAnswerChangedAction = Static<typeof SessionInputAnswerChangedAction>;
