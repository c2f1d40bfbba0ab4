import { type Static, Type } from 'typebox';
import { PROVIDER_PROTOCOL_VERSION } from '../limits.js';

export const ProviderHelloAckMessage = Type.Object(
  {
    type: Type.Literal('hello.ack'),
    protocolVersion: Type.Literal(PROVIDER_PROTOCOL_VERSION),
    providerId: Type.String({ description: 'Who the provider is in this session.' }),
    reconnectToken: Type.String({
      description: 'To come back as the same one after a break. Replaces every earlier one.',
    }),
    sessionId: Type.Optional(Type.String({ description: 'The session bound to; absent when bound to all.' })),
    persistDir: Type.Optional(
      Type.String({ description: "A directory of the provider's own; only for providers that run on this machine." }),
    ),
    degraded: Type.Optional(
      Type.Array(Type.String(), {
        description: 'What the agent of the session cannot do for the provider: `gates:host-run`, `transforms:append`.',
      }),
    ),
  },
  { $id: 'ProviderHelloAckMessage', description: 'The provider is bound and everything it brought is registered.' },
);
export type ProviderHelloAckMessage = Static<typeof ProviderHelloAckMessage>;
