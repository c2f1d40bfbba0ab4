import { type Static, Type } from 'typebox';

export const ProviderUserMessageData = Type.Object(
  { content: Type.String({ description: 'What was said.' }) },
  { $id: 'ProviderUserMessageData', description: 'What the person wrote.' },
);
export type ProviderUserMessageData = Static<typeof ProviderUserMessageData>;
