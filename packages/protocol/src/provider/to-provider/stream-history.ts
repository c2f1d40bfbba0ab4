import { type Static, Type } from 'typebox';
import { MapOf } from '../../schema/define.js';
import { ProviderStreamEvent } from '../parts/stream-event.js';

export const ProviderStreamHistoryMessage = Type.Object(
  {
    type: Type.Literal('stream.history'),
    queryId: Type.String(),
    streams: MapOf(Type.Array(ProviderStreamEvent), {
      description: 'By `stream@provider`, always in full, also for own streams; newest first.',
    }),
  },
  { $id: 'ProviderStreamHistoryMessage', description: 'The events that a `stream.query` asked for.' },
);
export type ProviderStreamHistoryMessage = Static<typeof ProviderStreamHistoryMessage>;
