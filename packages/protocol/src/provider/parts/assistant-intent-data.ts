import { type Static, Type } from 'typebox';

export const ProviderAssistantIntentData = Type.Object(
  { intent: Type.String() },
  { $id: 'ProviderAssistantIntentData', description: 'What the model says it is about to do.' },
);
export type ProviderAssistantIntentData = Static<typeof ProviderAssistantIntentData>;
