import { type Static, Type } from 'typebox';
import { ProviderMatch } from './match.js';

export const ProviderGateRule = Type.Object(
  {
    match: ProviderMatch,
    action: Type.Literal('gate'),
    gateId: Type.String({ description: 'What `gate.check` calls it.' }),
    failOpen: Type.Optional(
      Type.Boolean({ description: 'Whether silence lets the call pass; otherwise it blocks it.' }),
    ),
  },
  { $id: 'ProviderGateRule', description: 'Holds the call until the provider has answered `gate.check`.' },
);
export type ProviderGateRule = Static<typeof ProviderGateRule>;
