import { type Static, Type } from 'typebox';

export const ProviderAckMessage = Type.Object(
  {
    type: Type.Literal('ack'),
    /** Absent when the update had none. */
    requestId: Type.Optional(Type.String()),
    sessionId: Type.String(),
    revision: Type.Integer({ minimum: 0 }),
  },
  {
    $id: 'ProviderAckMessage',
    description: 'An update is in force in this session; everything sent after it knows this revision.',
  },
);
export type ProviderAckMessage = Static<typeof ProviderAckMessage>;
