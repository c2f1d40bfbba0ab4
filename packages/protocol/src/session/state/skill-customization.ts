import { type Static, Type } from 'typebox';
import { customizationBase } from './customization-base.js';

export const SkillCustomization = Type.Object(
  {
    type: Type.Literal('skill'),
    ...customizationBase,
    description: Type.Optional(Type.String()),
    disableModelInvocation: Type.Optional(Type.Boolean({ description: 'Whether it is for people only.' })),
  },
  { $id: 'SkillCustomization', description: 'A skill.' },
);
export type SkillCustomization = Static<typeof SkillCustomization>;
