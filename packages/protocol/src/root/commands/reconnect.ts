import { type Static, Type } from 'typebox';
import { ActionEnvelope } from '../../common/action-envelope.js';
import { RootChannel } from '../../common/root-channel.js';
import { Snapshot } from '../../common/snapshot.js';
import { URI } from '../../common/uri.js';
import { Seq } from '../../schema/define.js';

export const ReconnectParams = Type.Object(
  {
    channel: RootChannel,
    clientId: Type.String(),
    lastSeenServerSeq: Seq,
    subscriptions: Type.Array(URI, { description: 'The channels that the client had.' }),
  },
  { $id: 'ReconnectParams', description: 'Takes up a lost connection where it broke.' },
);
export type ReconnectParams = Static<typeof ReconnectParams>;

export const ReconnectReplayResult = Type.Object(
  {
    type: Type.Literal('replay'),
    actions: Type.Array(ActionEnvelope),
    missing: Type.Array(URI, { description: 'Channels of these that are gone.' }),
  },
  { $id: 'ReconnectReplayResult', description: 'Everything that was missed.' },
);
export type ReconnectReplayResult = Static<typeof ReconnectReplayResult>;

export const ReconnectSnapshotResult = Type.Object(
  { type: Type.Literal('snapshot'), snapshots: Type.Array(Snapshot) },
  { $id: 'ReconnectSnapshotResult', description: 'Too much was missed: the state as it is now.' },
);
export type ReconnectSnapshotResult = Static<typeof ReconnectSnapshotResult>;

export const ReconnectResult = Type.Union([ReconnectReplayResult, ReconnectSnapshotResult], {
  $id: 'ReconnectResult',
  description: 'How the connection goes on.',
});
export type ReconnectResult = Static<typeof ReconnectResult>;
