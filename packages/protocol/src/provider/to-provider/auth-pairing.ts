import { type Static, Type } from 'typebox';

export const ProviderAuthPairingMessage = Type.Object(
  {
    type: Type.Literal('auth.pairing'),
    /** What to ask the person. It never holds the code: that reaches the provider through the person alone. */
    prompt: Type.String(),
  },
  { $id: 'ProviderAuthPairingMessage', description: 'A pairing code is on show in the session; ask for it.' },
);
export type ProviderAuthPairingMessage = Static<typeof ProviderAuthPairingMessage>;
