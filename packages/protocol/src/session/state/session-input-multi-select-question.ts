import { type Static, Type } from 'typebox';
import { questionBase } from './question-base.js';
import { SessionInputOption } from './session-input-option.js';

export const SessionInputMultiSelectQuestion = Type.Object(
  {
    kind: Type.Literal('multi-select'),
    ...questionBase,
    options: Type.Array(SessionInputOption),
    allowFreeformInput: Type.Optional(Type.Boolean()),
    min: Type.Optional(Type.Number({ description: 'Fewest choices.' })),
    max: Type.Optional(Type.Number({ description: 'Most choices.' })),
  },
  { $id: 'SessionInputMultiSelectQuestion', description: 'A question with several choices.' },
);
export type SessionInputMultiSelectQuestion = Static<typeof SessionInputMultiSelectQuestion>;
