import { type Static, Type } from 'typebox';
import { PROVIDER_PROTOCOL_VERSION } from '../limits.js';

export const ProviderHelloAckMessage = Type.Object(
  {
    type: Type.Literal('hello.ack'),
    protocolVersion: Type.Literal(PROVIDER_PROTOCOL_VERSION),
    providerId: Type.String(),
    /** Replaces every earlier one. */
    reconnectToken: Type.String(),
    /** The session bound to; absent when bound to all. */
    sessionId: Type.Optional(Type.String()),
    /** A directory of the provider's own; only for providers that run on this machine. */
    persistDir: Type.Optional(Type.String()),
  },
  { $id: 'ProviderHelloAckMessage', description: 'The provider is bound and everything it brought is registered.' },
);
export type ProviderHelloAckMessage = Static<typeof ProviderHelloAckMessage>;
