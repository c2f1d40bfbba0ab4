import { type Static, Type } from 'typebox';
import { questionBase } from './question-base.js';
import { SessionInputOption } from './session-input-option.js';

export const SessionInputSingleSelectQuestion = Type.Object(
  {
    kind: Type.Literal('single-select'),
    ...questionBase,
    options: Type.Array(SessionInputOption),
    allowFreeformInput: Type.Optional(Type.Boolean()),
  },
  { $id: 'SessionInputSingleSelectQuestion', description: 'A question with one choice.' },
);
export type SessionInputSingleSelectQuestion = Static<typeof SessionInputSingleSelectQuestion>;
