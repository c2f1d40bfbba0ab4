import { type Static, Type } from 'typebox';

export const ProviderTransformRequestMessage = Type.Object(
  {
    type: Type.Literal('transform.request'),
    callId: Type.String({ description: 'Comes back with the answer.' }),
    sessionId: Type.String(),
    section: Type.String({ description: 'The id of the section.' }),
    current: Type.String({ description: 'Its text so far.' }),
  },
  {
    $id: 'ProviderTransformRequestMessage',
    description: 'A section of the system prompt is about to be used; answer with `transform.result`.',
  },
);
export type ProviderTransformRequestMessage = Static<typeof ProviderTransformRequestMessage>;
