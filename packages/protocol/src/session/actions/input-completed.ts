import { type Static, Type } from 'typebox';
import { MapOf } from '../../schema/define.js';
import { SessionInputAnswer } from '../state/session-input-answer.js';
import { SessionInputResponseKind } from '../state/session-input-response-kind.js';

export const SessionInputCompletedAction = Type.Object(
  {
    type: Type.Literal('session/inputCompleted'),
    requestId: Type.String(),
    response: SessionInputResponseKind,
    answers: Type.Optional(MapOf(SessionInputAnswer)),
  },
  { $id: 'SessionInputCompletedAction', description: 'An input request is over.' },
);
export type SessionInputCompletedAction = Static<typeof SessionInputCompletedAction>;
