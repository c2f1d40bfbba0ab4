import { type Static, Type } from 'typebox';
import { Choice } from '../../schema/define.js';
import { SessionInputAnswerValue } from './session-input-answer-value.js';

export const SessionInputAnswered = Type.Object(
  {
    state: Choice(['draft', 'submitted'], { description: 'A draft may still change.' }),
    value: SessionInputAnswerValue,
  },
  { $id: 'SessionInputAnswered', description: 'An answer, as a draft or as the last word.' },
);
export type SessionInputAnswered = Static<typeof SessionInputAnswered>;
