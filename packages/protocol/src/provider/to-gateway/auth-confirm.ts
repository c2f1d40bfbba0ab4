import { type Static, Type } from 'typebox';

export const ProviderAuthConfirmMessage = Type.Object(
  {
    type: Type.Literal('auth.confirm'),
    code: Type.String({ description: 'Six digits. Anything else is a wrong code, not a malformed message.' }),
  },
  {
    $id: 'ProviderAuthConfirmMessage',
    description:
      'The pairing code that the person typed into the provider. It decides which session the provider may enter.',
  },
);
export type ProviderAuthConfirmMessage = Static<typeof ProviderAuthConfirmMessage>;
