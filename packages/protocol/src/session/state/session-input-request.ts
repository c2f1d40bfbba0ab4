import { type Static, Type } from 'typebox';
import { URI } from '../../common/uri.js';
import { MapOf } from '../../schema/define.js';
import { SessionInputAnswer } from './session-input-answer.js';
import { SessionInputQuestion } from './session-input-question.js';

export const SessionInputRequest = Type.Object(
  {
    id: Type.String(),
    message: Type.Optional(Type.String()),
    url: Type.Optional(URI),
    questions: Type.Optional(Type.Array(SessionInputQuestion)),
    answers: Type.Optional(MapOf(SessionInputAnswer)),
  },
  { $id: 'SessionInputRequest', description: 'Something a person must answer or look at before work goes on.' },
);
export type SessionInputRequest = Static<typeof SessionInputRequest>;
