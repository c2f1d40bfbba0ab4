import { type Static, Type } from 'typebox';

export const ProviderStreamQueryMessage = Type.Object(
  {
    type: Type.Literal('stream.query'),
    queryId: Type.String(),
    sessionId: Type.Optional(Type.String()),
    /** `stream@provider`, or a bare name for an own stream. */
    streams: Type.Array(Type.String({ pattern: '\\S' })),
    /** How many events of each. No upper bound here: more than the gateway gives is cut down, not refused. */
    last: Type.Integer({ minimum: 1 }),
  },
  { $id: 'ProviderStreamQueryMessage', description: 'Asks for the latest events of some streams.' },
);
export type ProviderStreamQueryMessage = Static<typeof ProviderStreamQueryMessage>;
