import { type Static, Type } from 'typebox';
import { RootChannel } from '../../common/root-channel.js';
import { SessionSummary } from '../../session/state/session-summary.js';

export const SessionAddedParams = Type.Object(
  { channel: RootChannel, summary: SessionSummary },
  { $id: 'SessionAddedParams', description: 'A session was created.' },
);
export type SessionAddedParams = Static<typeof SessionAddedParams>;
