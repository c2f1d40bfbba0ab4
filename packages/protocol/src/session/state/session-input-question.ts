import { type Static, Type } from 'typebox';
import { SessionInputBooleanQuestion } from './session-input-boolean-question.js';
import { SessionInputMultiSelectQuestion } from './session-input-multi-select-question.js';
import { SessionInputNumberQuestion } from './session-input-number-question.js';
import { SessionInputSingleSelectQuestion } from './session-input-single-select-question.js';
import { SessionInputTextQuestion } from './session-input-text-question.js';

export const SessionInputQuestion = Type.Union(
  [
    SessionInputTextQuestion,
    SessionInputNumberQuestion,
    SessionInputBooleanQuestion,
    SessionInputSingleSelectQuestion,
    SessionInputMultiSelectQuestion,
  ],
  { $id: 'SessionInputQuestion', description: 'A question to a person.' },
);
export type SessionInputQuestion = Static<typeof SessionInputQuestion>;
