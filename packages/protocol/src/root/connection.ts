/** How a client connects, subscribes and dispatches, and how it comes back after a break. */
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
    locale: Type.Optional(Type.String({ description: 'A BCP 47 tag for texts that people read.' })),
  },
  { $id: 'InitializeParams', description: 'Opens a fresh connection.' },
);
export type InitializeParams = Static<typeof InitializeParams>;

export const InitializeResult = Type.Object(
  {
    protocolVersion: Type.String({ description: 'The version in force.' }),
    serverSeq: Seq,
    snapshots: Type.Array(Snapshot),
    defaultDirectory: Type.Optional(URI),
    completionTriggerCharacters: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Characters that should make a client ask for `completions` when typed.',
      }),
    ),
    telemetry: Type.Optional(TelemetryCapabilities),
  },
  { $id: 'InitializeResult', description: 'The version in force and what was subscribed.' },
);
export type InitializeResult = Static<typeof InitializeResult>;

export const PingParams = Type.Object(
  { channel: RootChannel },
  { $id: 'PingParams', description: 'Asks whether the other side is there. Answered even before `initialize`.' },
);
export type PingParams = Static<typeof PingParams>;

export const PingResult = Type.Null({ $id: 'PingResult', description: 'Nothing.' });
export type PingResult = Static<typeof PingResult>;

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

export const SubscribeParams = Type.Object(
  { channel: URI },
  { $id: 'SubscribeParams', description: 'Asks for the state of a channel and for all that follows.' },
);
export type SubscribeParams = Static<typeof SubscribeParams>;

export const SubscribeResult = Type.Object(
  { snapshot: Type.Optional(Snapshot) },
  { $id: 'SubscribeResult', description: 'The state; nothing for a stateless channel.' },
);
export type SubscribeResult = Static<typeof SubscribeResult>;

export const UnsubscribeParams = Type.Object(
  { channel: URI },
  { $id: 'UnsubscribeParams', description: 'The client no longer wants a channel.' },
);
export type UnsubscribeParams = Static<typeof UnsubscribeParams>;

export const DispatchActionParams = Type.Object(
  { channel: URI, clientSeq: Seq, action: StateAction },
  {
    $id: 'DispatchActionParams',
    description: 'The client asks for an action. Never answered; the action comes back with its origin.',
  },
);
export type DispatchActionParams = Static<typeof DispatchActionParams>;
