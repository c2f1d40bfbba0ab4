import { type Static, Type } from 'typebox';
import { ProviderJsonObject } from '../parts/json-object.js';

export const ProviderToolCallMessage = Type.Object(
  {
    type: Type.Literal('tool.call'),
    id: Type.String({ description: 'Comes back with the result.' }),
    sessionId: Type.String(),
    tool: Type.String(),
    args: ProviderJsonObject,
  },
  { $id: 'ProviderToolCallMessage', description: 'The model calls a tool; answer with `tool.result`.' },
);
export type ProviderToolCallMessage = Static<typeof ProviderToolCallMessage>;
