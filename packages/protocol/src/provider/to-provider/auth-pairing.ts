import { type Static, Type } from 'typebox';

export const ProviderAuthPairingMessage = Type.Object(
  {
    type: Type.Literal('auth.pairing'),
    prompt: Type.String({
      description:
        'What to ask the person. It never holds the code: that reaches the provider through the person alone.',
    }),
  },
  { $id: 'ProviderAuthPairingMessage', description: 'A pairing code is on show in the session; ask for it.' },
);
export type ProviderAuthPairingMessage = Static<typeof ProviderAuthPairingMessage>;
