import { type Static, Type } from 'typebox';
import { customizationBase } from './customization-base.js';

export const RuleCustomization = Type.Object(
  {
    type: Type.Literal('rule'),
    ...customizationBase,
    description: Type.Optional(Type.String()),
    alwaysApply: Type.Optional(Type.Boolean({ description: 'Whether it goes into every prompt.' })),
    globs: Type.Optional(Type.Array(Type.String(), { description: 'The files that it is about.' })),
  },
  { $id: 'RuleCustomization', description: 'An instruction, always on or tied to files.' },
);
export type RuleCustomization = Static<typeof RuleCustomization>;
