import { type Static, Type } from 'typebox';
import { customizationBase } from './customization-base.js';

export const AgentCustomization = Type.Object(
  { type: Type.Literal('agent'), ...customizationBase, description: Type.Optional(Type.String()) },
  { $id: 'AgentCustomization', description: 'A custom agent.' },
);
export type AgentCustomization = Static<typeof AgentCustomization>;
