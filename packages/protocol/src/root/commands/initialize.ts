import { type Static, Type } from 'typebox';
import { RootChannel } from '../../common/root-channel.js';
import { Snapshot } from '../../common/snapshot.js';
import { URI } from '../../common/uri.js';
import { TelemetryCapabilities } from '../../otlp/state/telemetry-capabilities.js';
import { Seq } from '../../schema/define.js';

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
