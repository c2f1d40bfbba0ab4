import { type Static, Type } from 'typebox';
import { customizationBase } from './customization-base.js';

export const PromptCustomization = Type.Object(
  { type: Type.Literal('prompt'), ...customizationBase, description: Type.Optional(Type.String()) },
  { $id: 'PromptCustomization', description: 'A prompt to start from.' },
);
export type PromptCustomization = Static<typeof PromptCustomization>;
