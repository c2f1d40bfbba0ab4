import { type Static, Type } from 'typebox';

export const ProviderStreamQueryMessage = Type.Object(
  {
    type: Type.Literal('stream.query'),
    queryId: Type.String({ description: 'Comes back with the answer.' }),
    sessionId: Type.Optional(Type.String()),
    streams: Type.Array(Type.String({ pattern: '\\S' }), {
      description: '`stream@provider`, or a bare name for an own stream.',
    }),
    last: Type.Integer({ minimum: 1, description: 'How many events of each; 100 at most.' }),
  },
  { $id: 'ProviderStreamQueryMessage', description: 'Asks for the latest events of some streams.' },
);
export type ProviderStreamQueryMessage = Static<typeof ProviderStreamQueryMessage>;
