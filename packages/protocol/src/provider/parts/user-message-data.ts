import { type Static, Type } from 'typebox';

export const ProviderUserMessageData = Type.Object(
  { content: Type.String() },
  { $id: 'ProviderUserMessageData', description: 'What the person wrote.' },
);
export type ProviderUserMessageData = Static<typeof ProviderUserMessageData>;
