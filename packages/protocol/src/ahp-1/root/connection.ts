/** How a client connects, subscribes, dispatches and reconnects. */
import { type Static, Type } from 'typebox';
import { TelemetryCapabilities } from '../../otlp/telemetry.js';
import {
  InitializeParams as OlderInitializeParams,
  PingParams as OlderPingParams,
  ReconnectParams as OlderReconnectParams,
  PingResult,
  UnsubscribeParams,
} from '../../root/connection.js';
import { Seq } from '../../schema/define.js';
import { StateAction } from '../actions.js';
import { AutomationCapabilities } from '../automation/commands.js';
import { ActionEnvelope, Snapshot } from '../common/envelope.js';
import { Meta, URI, withRequestMeta } from '../common/types.js';

export { PingResult, UnsubscribeParams };

export const Implementation = Type.Object(
  {
    name: Type.String(),
    version: Type.Optional(Type.String()),
    title: Type.Optional(Type.String({ description: 'The name for people.' })),
  },
  { $id: 'Implementation', description: 'The software at one end, for display and diagnosis.' },
);
export type Implementation = Static<typeof Implementation>;

export const ClientCapabilities = Type.Object(
  { mcpApps: Type.Optional(Type.Object({}, { description: 'The client shows apps of MCP servers.' })) },
  { $id: 'ClientCapabilities', description: 'What a client can do; an empty object means yes.' },
);
export type ClientCapabilities = Static<typeof ClientCapabilities>;

export const InitializeParams = withRequestMeta(
  Type.Object(
    {
      ...OlderInitializeParams.properties,
      clientInfo: Type.Optional(Implementation),
      capabilities: Type.Optional(ClientCapabilities),
    },
    { $id: 'InitializeParams', description: 'Opens a fresh connection.' },
  ),
);
export type InitializeParams = Static<typeof InitializeParams>;

export const InitializeResult = Type.Object(
  {
    protocolVersion: Type.String({ description: 'The version that both sides speak from now on.' }),
    serverSeq: Seq,
    serverInfo: Type.Optional(Implementation),
    snapshots: Type.Array(Snapshot),
    defaultDirectory: Type.Optional(URI),
    completionTriggerCharacters: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Characters that, when typed, make a client ask for `completions`.',
      }),
    ),
    terminalCommandPrefix: Type.Optional(
      Type.String({ description: 'A message that begins with it is a shell command; only `!` is standardised.' }),
    ),
    telemetry: Type.Optional(TelemetryCapabilities),
    automations: Type.Optional(AutomationCapabilities),
    _meta: Type.Optional(Meta),
  },
  { $id: 'InitializeResult', description: 'The agreed version, and the snapshots of what the client subscribed to.' },
);
export type InitializeResult = Static<typeof InitializeResult>;

export const PingParams = withRequestMeta(OlderPingParams);
export type PingParams = Static<typeof PingParams>;

export const ReconnectParams = withRequestMeta(OlderReconnectParams);
export type ReconnectParams = Static<typeof ReconnectParams>;

export const ReconnectReplayResult = Type.Object(
  {
    type: Type.Literal('replay'),
    actions: Type.Array(ActionEnvelope),
    missing: Type.Array(URI, { description: 'Subscribed channels that no longer exist.' }),
    _meta: Type.Optional(Meta),
  },
  { $id: 'ReconnectReplayResult', description: 'Every action that the client missed.' },
);
export type ReconnectReplayResult = Static<typeof ReconnectReplayResult>;

export const ReconnectSnapshotResult = Type.Object(
  { type: Type.Literal('snapshot'), snapshots: Type.Array(Snapshot), _meta: Type.Optional(Meta) },
  { $id: 'ReconnectSnapshotResult', description: 'The client missed too much: the current states.' },
);
export type ReconnectSnapshotResult = Static<typeof ReconnectSnapshotResult>;

export const ReconnectResult = Type.Union([ReconnectReplayResult, ReconnectSnapshotResult], {
  $id: 'ReconnectResult',
  description: 'What the client missed.',
});
export type ReconnectResult = Static<typeof ReconnectResult>;

export const SubscribeView = Type.Object(
  {
    turns: Type.Optional(
      Type.Number({ description: 'How many of the newest completed turns the client wants. Absent: all.' }),
    ),
  },
  { $id: 'SubscribeView', description: 'Which part of a state the client wants.' },
);
export type SubscribeView = Static<typeof SubscribeView>;

export const SubscriptionDeliveryOptions = Type.Object(
  {
    maxLatencyMs: Type.Optional(
      Type.Number({ description: 'How long the host may hold actions back to merge them; 0 forbids it.' }),
    ),
  },
  { $id: 'SubscriptionDeliveryOptions', description: 'How actions are delivered.' },
);
export type SubscriptionDeliveryOptions = Static<typeof SubscriptionDeliveryOptions>;

export const SubscribeParams = withRequestMeta(
  Type.Object(
    {
      channel: URI,
      view: Type.Optional(SubscribeView),
      delivery: Type.Optional(SubscriptionDeliveryOptions),
    },
    { $id: 'SubscribeParams', description: 'Subscribes to a channel: its state now, and every later action.' },
  ),
);
export type SubscribeParams = Static<typeof SubscribeParams>;

export const SubscribeResult = Type.Object(
  { snapshot: Type.Optional(Snapshot) },
  { $id: 'SubscribeResult', description: 'The state; absent for a channel without one.' },
);
export type SubscribeResult = Static<typeof SubscribeResult>;

export const DispatchActionParams = Type.Object(
  { channel: URI, clientSeq: Seq, action: StateAction },
  {
    $id: 'DispatchActionParams',
    description: 'Dispatches an action. It has no answer; the action comes back with its origin.',
  },
);
export type DispatchActionParams = Static<typeof DispatchActionParams>;
