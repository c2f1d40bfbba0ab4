import { type Static, Type } from 'typebox';
import { MapOf } from '../../schema/define.js';
import { ProviderHookRule } from './hook-rule.js';
import { ProviderTransform } from './transform.js';

export const ProviderHooks = Type.Object(
  {
    onPreToolUse: Type.Optional(Type.Array(ProviderHookRule)),
    transforms: Type.Optional(MapOf(ProviderTransform, { description: 'By section of the system prompt.' })),
  },
  { $id: 'ProviderHooks', description: 'The rules and prompt changes that a provider brings along.' },
);
export type ProviderHooks = Static<typeof ProviderHooks>;
