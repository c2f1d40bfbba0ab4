import { type Static, Type } from 'typebox';
import { ProviderMatch } from './match.js';

export const ProviderGateRule = Type.Object(
  {
    match: ProviderMatch,
    action: Type.Literal('gate'),
    gateId: Type.String(),
    /** Silence means deny, unless the rule says otherwise here. */
    failOpen: Type.Optional(Type.Boolean()),
  },
  { $id: 'ProviderGateRule', description: 'Holds the call until the provider has answered `gate.check`.' },
);
export type ProviderGateRule = Static<typeof ProviderGateRule>;
