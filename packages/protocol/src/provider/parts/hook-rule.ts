import { type Static, Type } from 'typebox';
import { ProviderContextRule } from './context-rule.js';
import { ProviderDenyRule } from './deny-rule.js';
import { ProviderGateRule } from './gate-rule.js';

// Closed: a rule whose action we do not know would silently protect nothing.
export const ProviderHookRule = Type.Union([ProviderDenyRule, ProviderContextRule, ProviderGateRule], {
  $id: 'ProviderHookRule',
  description: 'What happens before a matching tool call runs.',
});
export type ProviderHookRule = Static<typeof ProviderHookRule>;
