import { type Static, Type } from 'typebox';
import { customizationBase } from './customization-base.js';

export const HookCustomization = Type.Object(
  { type: Type.Literal('hook'), ...customizationBase },
  { $id: 'HookCustomization', description: 'A hook that runs at an event.' },
);
export type HookCustomization = Static<typeof HookCustomization>;
