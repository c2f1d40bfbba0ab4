import { type Static, Type } from 'typebox';
import { ProviderJsonObject } from './json-object.js';

export const ProviderToolRequest = Type.Object(
  { name: Type.String(), args: ProviderJsonObject },
  { $id: 'ProviderToolRequest', description: 'A tool call that the model asked for.' },
);
export type ProviderToolRequest = Static<typeof ProviderToolRequest>;

export const ProviderAssistantMessageData = Type.Object(
  {
    content: Type.String({ description: 'What it said.' }),
    toolRequests: Type.Optional(Type.Array(ProviderToolRequest)),
  },
  { $id: 'ProviderAssistantMessageData', description: 'What the model answered.' },
);
export type ProviderAssistantMessageData = Static<typeof ProviderAssistantMessageData>;
