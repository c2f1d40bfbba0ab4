/** How a client connects, subscribes, dispatches and reconnects. */
import { type Static, Type } from 'typebox';
import { StateAction } from '../actions.js';
import { ActionEnvelope, Snapshot } from '../common/envelope.js';
import { RootChannel, URI } from '../common/types.js';
import { TelemetryCapabilities } from '../otlp/telemetry.js';
import { Seq } from '../schema/define.js';

export const InitializeParams = Type.Object(
  {
    channel: RootChannel,
    protocolVersions: Type.Array(Type.String(), {
      description: 'The versions that the client speaks; the host picks the highest that it speaks too.',
    }),
    clientId: Type.String(),
    initialSubscriptions: Type.Optional(Type.Array(URI, { description: 'Channels to subscribe to at once.' })),
    locale: Type.Optional(Type.String({ description: 'The language for texts that people read, as a BCP 47 tag.' })),
  },
  { $id: 'InitializeParams', description: 'Opens a fresh connection.' },
);
export type InitializeParams = Static<typeof InitializeParams>;

export const InitializeResult = Type.Object(
  {
    protocolVersion: Type.String({ description: 'The version that both sides speak from now on.' }),
    serverSeq: Seq,
    snapshots: Type.Array(Snapshot),
    defaultDirectory: Type.Optional(URI),
    completionTriggerCharacters: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Characters that, when typed, make a client ask for `completions`.',
      }),
    ),
    telemetry: Type.Optional(TelemetryCapabilities),
  },
  { $id: 'InitializeResult', description: 'The agreed version, and the snapshots of what the client subscribed to.' },
);
export type InitializeResult = Static<typeof InitializeResult>;

export const PingParams = Type.Object(
  { channel: RootChannel },
  { $id: 'PingParams', description: 'Asks whether the other side is alive. Answered even before `initialize`.' },
);
export type PingParams = Static<typeof PingParams>;

export const PingResult = Type.Null({ $id: 'PingResult', description: 'Nothing.' });
export type PingResult = Static<typeof PingResult>;

export const ReconnectParams = Type.Object(
  {
    channel: RootChannel,
    clientId: Type.String(),
    lastSeenServerSeq: Seq,
    subscriptions: Type.Array(URI, { description: 'The channels that the client was subscribed to.' }),
  },
  { $id: 'ReconnectParams', description: 'Resumes a lost connection.' },
);
export type ReconnectParams = Static<typeof ReconnectParams>;

export const ReconnectReplayResult = Type.Object(
  {
    type: Type.Literal('replay'),
    actions: Type.Array(ActionEnvelope),
    missing: Type.Array(URI, { description: 'Subscribed channels that no longer exist.' }),
  },
  { $id: 'ReconnectReplayResult', description: 'Every action that the client missed.' },
);
export type ReconnectReplayResult = Static<typeof ReconnectReplayResult>;

export const ReconnectSnapshotResult = Type.Object(
  { type: Type.Literal('snapshot'), snapshots: Type.Array(Snapshot) },
  { $id: 'ReconnectSnapshotResult', description: 'The client missed too much: the current states.' },
);
export type ReconnectSnapshotResult = Static<typeof ReconnectSnapshotResult>;

export const ReconnectResult = Type.Union([ReconnectReplayResult, ReconnectSnapshotResult], {
  $id: 'ReconnectResult',
  description: 'What the client missed.',
});
export type ReconnectResult = Static<typeof ReconnectResult>;

export const SubscribeParams = Type.Object(
  { channel: URI },
  { $id: 'SubscribeParams', description: 'Subscribes to a channel: its state now, and every later action.' },
);
export type SubscribeParams = Static<typeof SubscribeParams>;

export const SubscribeResult = Type.Object(
  { snapshot: Type.Optional(Snapshot) },
  { $id: 'SubscribeResult', description: 'The state; absent for a channel without one.' },
);
export type SubscribeResult = Static<typeof SubscribeResult>;

export const UnsubscribeParams = Type.Object(
  { channel: URI },
  { $id: 'UnsubscribeParams', description: 'Unsubscribes from a channel.' },
);
export type UnsubscribeParams = Static<typeof UnsubscribeParams>;

export const DispatchActionParams = Type.Object(
  { channel: URI, clientSeq: Seq, action: StateAction },
  {
    $id: 'DispatchActionParams',
    description: 'Dispatches an action. It has no answer; the action comes back with its origin.',
  },
);
export type DispatchActionParams = Static<typeof DispatchActionParams>;
