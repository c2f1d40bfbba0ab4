import { type Static, Type } from 'typebox';
import { ProviderSessionEntry } from '../parts/session-entry.js';

export const ProviderSessionsMessage = Type.Object(
  {
    type: Type.Literal('sessions'),
    active: Type.Array(ProviderSessionEntry),
    token: Type.Optional(
      Type.String({ description: 'For later connections; only in the answer to a successful pairing.' }),
    ),
  },
  { $id: 'ProviderSessionsMessage', description: 'The provider is authenticated; these sessions are active.' },
);
export type ProviderSessionsMessage = Static<typeof ProviderSessionsMessage>;
