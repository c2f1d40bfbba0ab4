import { type Static, Type } from 'typebox';
import { ProviderMatch } from './match.js';

export const ProviderContextRule = Type.Object(
  {
    match: ProviderMatch,
    action: Type.Literal('context'),
    content: Type.String({ description: 'What the model is told.' }),
  },
  { $id: 'ProviderContextRule', description: 'Lets the call pass and gives the model `content` with it.' },
);
export type ProviderContextRule = Static<typeof ProviderContextRule>;
