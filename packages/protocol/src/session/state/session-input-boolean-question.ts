import { type Static, Type } from 'typebox';
import { questionBase } from './question-base.js';

export const SessionInputBooleanQuestion = Type.Object(
  { kind: Type.Literal('boolean'), ...questionBase, defaultValue: Type.Optional(Type.Boolean()) },
  { $id: 'SessionInputBooleanQuestion', description: 'A question answered with yes or no.' },
);
export type SessionInputBooleanQuestion = Static<typeof SessionInputBooleanQuestion>;
