/** The state of a session, and the summary that lists show. */
import { type Static, Type } from 'typebox';
import { OpenChoice, OpenUnion } from '../../schema/define.js';
import { ProjectInfo, SystemMessageTransformOptIn } from '../../session/state.js';
import { AnnotationsSummary } from '../annotations/state.js';
import { Changeset } from '../changeset/state.js';
import { ChatInputRequest } from '../chat/input.js';
import { ChatInteractivity, ChatOrigin, ChatSummary } from '../chat/state.js';
import {
  ToolCallAuthRequiredState,
  ToolCallPendingConfirmationState,
  ToolCallPendingResultConfirmationState,
  ToolCallState,
  ToolDefinition,
} from '../chat/tool-calls.js';
import { SessionConfigState } from '../common/config.js';
import { ChangesSummary, ErrorInfo, Meta, Timestamp, URI } from '../common/types.js';
import { ClientPluginCustomization, Customization } from './customizations.js';

export { ProjectInfo, SystemMessageTransformOptIn };

export const SessionActiveClient = Type.Object(
  {
    clientId: Type.String(),
    displayName: Type.Optional(Type.String()),
    tools: Type.Array(ToolDefinition),
    customizations: Type.Optional(Type.Array(ClientPluginCustomization)),
    /** Private member: Atrium's extension. */
    systemMessageTransform: Type.Optional(SystemMessageTransformOptIn),
  },
  { $id: 'SessionActiveClient', description: 'A client whose tools and plugins a session may use.' },
);
export type SessionActiveClient = Static<typeof SessionActiveClient>;

export const SessionLifecycle = OpenChoice(['creating', 'ready', 'failed'], {
  $id: 'SessionLifecycle',
  description: 'Whether a session is being created, ready, or failed.',
});
export type SessionLifecycle = Static<typeof SessionLifecycle>;

export const SessionAutomationOrigin = Type.Object(
  { kind: Type.Literal('automation'), automation: URI, run: URI },
  { $id: 'SessionAutomationOrigin', description: 'A run of an automation created the session.' },
);
export type SessionAutomationOrigin = Static<typeof SessionAutomationOrigin>;

export const SessionOrigin = OpenUnion('kind', [SessionAutomationOrigin], {
  $id: 'SessionOrigin',
  description: 'How a session came to be, unless a person created it.',
});
export type SessionOrigin = Static<typeof SessionOrigin>;

/** Members of every entry in the list of what waits for a person or a client. */
const inputNeededBase = {
  id: Type.String({ description: 'Chosen by the host.' }),
  chat: URI,
};

export const SessionChatInputRequest = Type.Object(
  { kind: Type.Literal('chatInput'), ...inputNeededBase, request: ChatInputRequest },
  { $id: 'SessionChatInputRequest', description: 'A question; `chat/inputCompleted` answers it.' },
);
export type SessionChatInputRequest = Static<typeof SessionChatInputRequest>;

export const ToolCallConfirmationState = OpenUnion(
  'status',
  [ToolCallPendingConfirmationState, ToolCallPendingResultConfirmationState],
  { $id: 'ToolCallConfirmationState', description: 'A call that a person must decide about.' },
);
export type ToolCallConfirmationState = Static<typeof ToolCallConfirmationState>;

export const SessionToolConfirmationRequest = Type.Object(
  {
    kind: Type.Literal('toolConfirmation'),
    ...inputNeededBase,
    turnId: Type.String(),
    toolCall: ToolCallConfirmationState,
  },
  {
    $id: 'SessionToolConfirmationRequest',
    description: 'A call to confirm; `chat/toolCallConfirmed` or `chat/toolCallResultConfirmed` decides.',
  },
);
export type SessionToolConfirmationRequest = Static<typeof SessionToolConfirmationRequest>;

export const SessionToolClientExecutionRequest = Type.Object(
  {
    kind: Type.Literal('toolClientExecution'),
    ...inputNeededBase,
    turnId: Type.String(),
    clientId: Type.String(),
    toolCall: ToolCallState,
  },
  {
    $id: 'SessionToolClientExecutionRequest',
    description: 'A call that a client runs; `chat/toolCallComplete` ends it. It asks nothing of a person.',
  },
);
export type SessionToolClientExecutionRequest = Static<typeof SessionToolClientExecutionRequest>;

export const SessionToolAuthenticationRequest = Type.Object(
  {
    kind: Type.Literal('toolAuthentication'),
    ...inputNeededBase,
    turnId: Type.String(),
    toolCall: ToolCallAuthRequiredState,
  },
  { $id: 'SessionToolAuthenticationRequest', description: 'A call that needs a token; `authenticate` gives it.' },
);
export type SessionToolAuthenticationRequest = Static<typeof SessionToolAuthenticationRequest>;

export const SessionInputRequest = OpenUnion(
  'kind',
  [
    SessionChatInputRequest,
    SessionToolConfirmationRequest,
    SessionToolClientExecutionRequest,
    SessionToolAuthenticationRequest,
  ],
  { $id: 'SessionInputRequest', description: 'Something in one of the chats that waits for a person or a client.' },
);
export type SessionInputRequest = Static<typeof SessionInputRequest>;

/** Members that a session and its summary share. */
const sessionMembers = {
  provider: Type.String(),
  title: Type.String(),
  status: Type.Integer({
    description:
      'Activity in the five lowest bits: 1 idle, 2 error, 8 in progress, 24 waits for input. 32: was read. 64: is archived.',
  }),
  activity: Type.Optional(Type.String({ description: 'What it is doing now, in a few words.' })),
  origin: Type.Optional(SessionOrigin),
  project: Type.Optional(ProjectInfo),
  workingDirectories: Type.Optional(Type.Array(URI, { description: 'The first is the primary one.' })),
  annotations: Type.Optional(AnnotationsSummary),
};

export const SessionChatSummary = Type.Object(
  {
    resource: URI,
    title: Type.String(),
    origin: Type.Optional(ChatOrigin),
    interactivity: Type.Optional(ChatInteractivity),
    status: Type.Optional(Type.Integer({ description: 'As in `ChatSummary`.' })),
    changes: Type.Optional(ChangesSummary),
  },
  { $id: 'SessionChatSummary', description: 'A chat as the list of sessions shows it.' },
);
export type SessionChatSummary = Static<typeof SessionChatSummary>;

export const SessionSummary = Type.Object(
  {
    resource: URI,
    ...sessionMembers,
    createdAt: Timestamp,
    modifiedAt: Timestamp,
    changes: Type.Optional(ChangesSummary),
    chats: Type.Optional(Type.Array(SessionChatSummary)),
    defaultChat: Type.Optional(URI),
    _meta: Type.Optional(Meta),
  },
  { $id: 'SessionSummary', description: 'A session as lists show it. Only here stands when it was created.' },
);
export type SessionSummary = Static<typeof SessionSummary>;

export const SessionState = Type.Object(
  {
    ...sessionMembers,
    lifecycle: SessionLifecycle,
    creationError: Type.Optional(ErrorInfo),
    serverTools: Type.Optional(Type.Array(ToolDefinition)),
    activeClients: Type.Array(SessionActiveClient, { description: 'By `clientId`; may be empty.' }),
    chats: Type.Array(ChatSummary),
    defaultChat: Type.Optional(URI),
    config: Type.Optional(SessionConfigState),
    customizations: Type.Optional(Type.Array(Customization)),
    changesets: Type.Optional(Type.Array(Changeset)),
    inputNeeded: Type.Optional(Type.Array(SessionInputRequest, { description: 'Absent when nothing waits.' })),
    _meta: Type.Optional(Meta),
  },
  { $id: 'SessionState', description: 'Everything about one session but its conversations.' },
);
export type SessionState = Static<typeof SessionState>;
