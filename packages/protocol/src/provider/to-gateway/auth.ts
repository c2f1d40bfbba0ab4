import { type Static, Type } from 'typebox';
import { ProviderName } from '../parts/name.js';

// Both ways in are optional: an `auth` without either is well formed and fails as a bad token does. `authClaimOf`
// in ../rules.ts says which of the two a message makes.
export const ProviderAuthMessage = Type.Object(
  {
    type: Type.Literal('auth'),
    token: Type.Optional(
      Type.String({ description: 'One that the host gave to the process, or that a pairing gave.' }),
    ),
    mode: Type.Optional(Type.Literal('pair', { description: 'Asks for a pairing code.' })),
    /** Who asks to pair, for the notice that the person reads. */
    name: Type.Optional(ProviderName),
  },
  { $id: 'ProviderAuthMessage', description: 'Shows a token, or asks to be paired.' },
);
export type ProviderAuthMessage = Static<typeof ProviderAuthMessage>;
