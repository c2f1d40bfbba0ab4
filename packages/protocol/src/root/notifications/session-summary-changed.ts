import { type Static, Type } from 'typebox';
import { RootChannel } from '../../common/root-channel.js';
import { URI } from '../../common/uri.js';
import { SessionSummaryChanges } from './session-summary-changes.js';

export const SessionSummaryChangedParams = Type.Object(
  { channel: RootChannel, session: URI, changes: SessionSummaryChanges },
  {
    $id: 'SessionSummaryChangedParams',
    description: "Members of a session's summary changed; `null` takes an optional member away.",
  },
);
export type SessionSummaryChangedParams = Static<typeof SessionSummaryChangedParams>;
