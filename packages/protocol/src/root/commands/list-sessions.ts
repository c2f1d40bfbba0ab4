import { type Static, Type } from 'typebox';
import { RootChannel } from '../../common/root-channel.js';
import { MapOf } from '../../schema/define.js';
import { SessionSummary } from '../../session/state/session-summary.js';

export const ListSessionsParams = Type.Object(
  {
    channel: RootChannel,
    filter: Type.Optional(MapOf(Type.Unknown(), { description: 'Reserved; the host does not look into it.' })),
  },
  { $id: 'ListSessionsParams', description: 'Asks for all sessions that are not disposed.' },
);
export type ListSessionsParams = Static<typeof ListSessionsParams>;

export const ListSessionsResult = Type.Object(
  { items: Type.Array(SessionSummary) },
  { $id: 'ListSessionsResult', description: 'The session list. It is never part of root state.' },
);
export type ListSessionsResult = Static<typeof ListSessionsResult>;
