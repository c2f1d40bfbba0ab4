import { type Static, Type } from 'typebox';
import { Choice } from '../../schema/define.js';
import { questionBase } from './question-base.js';

export const SessionInputNumberQuestion = Type.Object(
  {
    kind: Choice(['number', 'integer'], { description: 'Whether fractions are allowed.' }),
    ...questionBase,
    min: Type.Optional(Type.Number()),
    max: Type.Optional(Type.Number()),
    defaultValue: Type.Optional(Type.Number()),
  },
  { $id: 'SessionInputNumberQuestion', description: 'A question answered with a number.' },
);
export type SessionInputNumberQuestion = Static<typeof SessionInputNumberQuestion>;
