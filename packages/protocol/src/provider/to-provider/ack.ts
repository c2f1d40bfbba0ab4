import { type Static, Type } from 'typebox';

export const ProviderAckMessage = Type.Object(
  {
    type: Type.Literal('ack'),
    requestId: Type.Optional(Type.String({ description: 'Absent when the update had none.' })),
    sessionId: Type.String(),
    revision: Type.Integer({ minimum: 0, description: 'Counts the changes of what the provider has registered.' }),
    degraded: Type.Optional(
      Type.Array(Type.String(), {
        description: 'After `hooks.update`: what the agent of the session cannot do, as in `hello.ack`.',
      }),
    ),
  },
  {
    $id: 'ProviderAckMessage',
    description: 'An update is in force in this session; everything sent after it knows this revision.',
  },
);
export type ProviderAckMessage = Static<typeof ProviderAckMessage>;
