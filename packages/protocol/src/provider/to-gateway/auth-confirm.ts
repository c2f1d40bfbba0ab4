import { type Static, Type } from 'typebox';

export const ProviderAuthConfirmMessage = Type.Object(
  {
    type: Type.Literal('auth.confirm'),
    /** Any string: a mistyped code is a wrong code, not a malformed message. */
    code: Type.String(),
  },
  { $id: 'ProviderAuthConfirmMessage', description: 'The pairing code that the person typed into the provider.' },
);
export type ProviderAuthConfirmMessage = Static<typeof ProviderAuthConfirmMessage>;
