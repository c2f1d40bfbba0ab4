import { type Static, Type } from 'typebox';
import { ProviderMatch } from './match.js';

export const ProviderDenyRule = Type.Object(
  {
    match: ProviderMatch,
    action: Type.Literal('deny'),
    reason: Type.String({ description: 'What the model is told.' }),
  },
  { $id: 'ProviderDenyRule', description: 'Blocks the call and tells the model `reason`.' },
);
export type ProviderDenyRule = Static<typeof ProviderDenyRule>;
