/** The state of a session, and the summary that lists show. */
import { type Static, Type } from 'typebox';
import { ChangesetSummary } from '../changeset/state.js';
import { ConfigPropertySchema, configPropertyMembers } from '../common/config.js';
import { AgentSelection, ErrorInfo, Meta, ModelSelection, URI } from '../common/types.js';
import { Choice, MapOf } from '../schema/define.js';
import { ClientPluginCustomization, Customization } from './customizations.js';
import { SessionInputRequest } from './input.js';
import { PendingMessage } from './messages.js';
import { ToolDefinition } from './tool-calls.js';
import { ActiveTurn, Turn } from './turns.js';

export const ProjectInfo = Type.Object(
  { uri: URI, displayName: Type.String() },
  { $id: 'ProjectInfo', description: 'The project a session works in.' },
);
export type ProjectInfo = Static<typeof ProjectInfo>;

export const SystemMessageTransformOptIn = Type.Object(
  { sections: Type.Array(Type.String(), { description: 'Ids of sections.' }) },
  { $id: 'SystemMessageTransformOptIn', description: 'The prompt sections that a client wants to rewrite.' },
);
export type SystemMessageTransformOptIn = Static<typeof SystemMessageTransformOptIn>;

export const SessionActiveClient = Type.Object(
  {
    clientId: Type.String(),
    displayName: Type.Optional(Type.String()),
    tools: Type.Array(ToolDefinition),
    customizations: Type.Optional(Type.Array(ClientPluginCustomization)),
    systemMessageTransform: Type.Optional(SystemMessageTransformOptIn),
  },
  { $id: 'SessionActiveClient', description: 'The client whose tools a session may use; there is one at most.' },
);
export type SessionActiveClient = Static<typeof SessionActiveClient>;

export const SessionConfigPropertySchema = Type.Object(
  {
    ...configPropertyMembers,
    items: Type.Optional(ConfigPropertySchema),
    properties: Type.Optional(MapOf(ConfigPropertySchema)),
    enumDynamic: Type.Optional(
      Type.Boolean({
        description: 'Whether `enum` is incomplete; `sessionConfigCompletions` looks up more values.',
      }),
    ),
    sessionMutable: Type.Optional(Type.Boolean({ description: 'Whether it may change after the session is created.' })),
  },
  {
    $id: 'SessionConfigPropertySchema',
    description: 'One property of a session configuration; `enumDynamic` values are looked up, not listed.',
  },
);
export type SessionConfigPropertySchema = Static<typeof SessionConfigPropertySchema>;

export const SessionConfigSchema = Type.Object(
  {
    type: Type.Literal('object'),
    properties: MapOf(SessionConfigPropertySchema),
    required: Type.Optional(Type.Array(Type.String(), { description: 'Properties that must have a value.' })),
  },
  { $id: 'SessionConfigSchema', description: 'The configuration a session offers.' },
);
export type SessionConfigSchema = Static<typeof SessionConfigSchema>;

export const SessionConfigState = Type.Object(
  { schema: SessionConfigSchema, values: MapOf(Type.Unknown()) },
  { $id: 'SessionConfigState', description: 'Configuration of a session: its schema and its values.' },
);
export type SessionConfigState = Static<typeof SessionConfigState>;

export const SessionLifecycle = Choice(['creating', 'ready', 'creationFailed'], {
  $id: 'SessionLifecycle',
  description: 'Whether a session is being created, ready, or failed.',
});
export type SessionLifecycle = Static<typeof SessionLifecycle>;

export const SessionSummary = Type.Object(
  {
    resource: URI,
    provider: Type.String(),
    title: Type.String(),
    status: Type.Integer({
      description:
        'Activity in the five lowest bits: 1 idle, 2 error, 8 in progress, 24 waits for input. 32: was read. 64: is archived.',
    }),
    activity: Type.Optional(Type.String({ description: 'What it is doing now, in a few words.' })),
    createdAt: Type.Number({ description: 'Milliseconds since 1970.' }),
    modifiedAt: Type.Number({ description: 'Milliseconds since 1970.' }),
    project: Type.Optional(ProjectInfo),
    model: Type.Optional(ModelSelection),
    agent: Type.Optional(AgentSelection),
    workingDirectory: Type.Optional(URI),
    changesets: Type.Optional(Type.Array(ChangesetSummary)),
  },
  { $id: 'SessionSummary', description: 'A session as lists show it.' },
);
export type SessionSummary = Static<typeof SessionSummary>;

export const SessionState = Type.Object(
  {
    summary: SessionSummary,
    lifecycle: SessionLifecycle,
    creationError: Type.Optional(ErrorInfo),
    serverTools: Type.Optional(Type.Array(ToolDefinition)),
    activeClient: Type.Optional(SessionActiveClient),
    turns: Type.Array(Turn),
    activeTurn: Type.Optional(ActiveTurn),
    steeringMessage: Type.Optional(PendingMessage),
    queuedMessages: Type.Optional(Type.Array(PendingMessage)),
    inputRequests: Type.Optional(Type.Array(SessionInputRequest)),
    config: Type.Optional(SessionConfigState),
    customizations: Type.Optional(Type.Array(Customization)),
    _meta: Type.Optional(Meta),
  },
  { $id: 'SessionState', description: 'Everything about one session.' },
);
export type SessionState = Static<typeof SessionState>;
