import { type Static, Type } from 'typebox';
import { SessionInputBooleanAnswerValue } from './session-input-boolean-answer-value.js';
import { SessionInputNumberAnswerValue } from './session-input-number-answer-value.js';
import { SessionInputSelectedAnswerValue } from './session-input-selected-answer-value.js';
import { SessionInputSelectedManyAnswerValue } from './session-input-selected-many-answer-value.js';
import { SessionInputTextAnswerValue } from './session-input-text-answer-value.js';

export const SessionInputAnswerValue = Type.Union(
  [
    SessionInputTextAnswerValue,
    SessionInputNumberAnswerValue,
    SessionInputBooleanAnswerValue,
    SessionInputSelectedAnswerValue,
    SessionInputSelectedManyAnswerValue,
  ],
  { $id: 'SessionInputAnswerValue', description: 'The value of an answer.' },
);
export type SessionInputAnswerValue = Static<typeof SessionInputAnswerValue>;
