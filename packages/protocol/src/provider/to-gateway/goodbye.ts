import { type Static, Type } from 'typebox';

export const ProviderGoodbyeMessage = Type.Object(
  { type: Type.Literal('goodbye'), reason: Type.Optional(Type.String({ description: 'For people and logs.' })) },
  { $id: 'ProviderGoodbyeMessage', description: 'The provider leaves on purpose.' },
);
export type ProviderGoodbyeMessage = Static<typeof ProviderGoodbyeMessage>;
