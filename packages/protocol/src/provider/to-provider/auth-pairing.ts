import { type Static, Type } from 'typebox';

export const ProviderAuthPairingMessage = Type.Object(
  {
    type: Type.Literal('auth.pairing'),
    prompt: Type.String({
      description:
        'What to ask the person. It never holds the code: that reaches the provider through the person alone.',
    }),
  },
  {
    $id: 'ProviderAuthPairingMessage',
    description:
      'The host shows a pairing code for each session to people who look at its clients or its console; ask for one.',
  },
);
export type ProviderAuthPairingMessage = Static<typeof ProviderAuthPairingMessage>;
