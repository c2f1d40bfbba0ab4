import { type Static, Type } from 'typebox';

export const ProviderAssistantIntentData = Type.Object(
  { intent: Type.String({ description: 'In a few words.' }) },
  { $id: 'ProviderAssistantIntentData', description: 'What the model says it is about to do.' },
);
export type ProviderAssistantIntentData = Static<typeof ProviderAssistantIntentData>;
