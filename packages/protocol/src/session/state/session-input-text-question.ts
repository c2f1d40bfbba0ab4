import { type Static, Type } from 'typebox';
import { questionBase } from './question-base.js';

export const SessionInputTextQuestion = Type.Object(
  {
    kind: Type.Literal('text'),
    ...questionBase,
    format: Type.Optional(Type.String()),
    min: Type.Optional(Type.Number()),
    max: Type.Optional(Type.Number()),
    defaultValue: Type.Optional(Type.String()),
  },
  { $id: 'SessionInputTextQuestion', description: 'A question answered in words.' },
);
export type SessionInputTextQuestion = Static<typeof SessionInputTextQuestion>;
