import { type Static, Type } from 'typebox';

export const ProviderTransformRequestMessage = Type.Object(
  {
    type: Type.Literal('transform.request'),
    callId: Type.String(),
    sessionId: Type.String(),
    section: Type.String(),
    current: Type.String(),
  },
  {
    $id: 'ProviderTransformRequestMessage',
    description: 'A section of the system prompt is about to be used; answer with `transform.result`.',
  },
);
export type ProviderTransformRequestMessage = Static<typeof ProviderTransformRequestMessage>;
