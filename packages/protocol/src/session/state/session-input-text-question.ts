import { type Static, Type } from 'typebox';
import { questionBase } from './question-base.js';

export const SessionInputTextQuestion = Type.Object(
  {
    kind: Type.Literal('text'),
    ...questionBase,
    format: Type.Optional(Type.String({ description: 'What the words must be, such as `email` or `uri`.' })),
    min: Type.Optional(Type.Number({ description: 'Fewest characters.' })),
    max: Type.Optional(Type.Number({ description: 'Most characters.' })),
    defaultValue: Type.Optional(Type.String()),
  },
  { $id: 'SessionInputTextQuestion', description: 'A question answered in words.' },
);
export type SessionInputTextQuestion = Static<typeof SessionInputTextQuestion>;
