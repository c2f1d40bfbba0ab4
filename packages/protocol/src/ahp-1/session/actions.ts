/** The actions of a session. Those of conversations are with the chat. */
import { type Static, Type } from 'typebox';
import {
  SessionActivityChangedAction,
  SessionConfigChangedAction,
  SessionCustomizationRemovedAction,
  SessionIsArchivedChangedAction,
  SessionIsReadChangedAction,
  SessionMetaChangedAction,
  SessionReadyAction,
  SessionServerToolsChangedAction,
  SessionTitleChangedAction,
} from '../../session/actions.js';
import { Changeset } from '../changeset/state.js';
import { ChatInteractivity, ChatOrigin, ChatSummary } from '../chat/state.js';
import { ChangesSummary, ErrorInfo, Timestamp, URI } from '../common/types.js';
import { Customization, CustomizationEnablement, McpServerState } from './customizations.js';
import { SessionActiveClient, SessionInputRequest } from './state.js';

export {
  SessionActivityChangedAction,
  SessionConfigChangedAction,
  SessionCustomizationRemovedAction,
  SessionIsArchivedChangedAction,
  SessionIsReadChangedAction,
  SessionMetaChangedAction,
  SessionReadyAction,
  SessionServerToolsChangedAction,
  SessionTitleChangedAction,
};

export const SessionCreationFailedAction = Type.Object(
  { type: Type.Literal('session/creationFailed'), error: ErrorInfo },
  { $id: 'SessionCreationFailedAction', description: 'The agent could not be started.' },
);
export type SessionCreationFailedAction = Static<typeof SessionCreationFailedAction>;

export const SessionChatAddedAction = Type.Object(
  { type: Type.Literal('session/chatAdded'), summary: ChatSummary },
  { $id: 'SessionChatAddedAction', description: 'The session has a new chat.' },
);
export type SessionChatAddedAction = Static<typeof SessionChatAddedAction>;

export const SessionChatRemovedAction = Type.Object(
  { type: Type.Literal('session/chatRemoved'), chat: URI },
  { $id: 'SessionChatRemovedAction', description: 'A chat was disposed, or moved to another session.' },
);
export type SessionChatRemovedAction = Static<typeof SessionChatRemovedAction>;

export const ChatSummaryChanges = Type.Object(
  {
    resource: Type.Optional(URI),
    title: Type.Optional(Type.String()),
    status: Type.Optional(Type.Integer({ description: 'As in `ChatSummary`.' })),
    activity: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    modifiedAt: Type.Optional(Timestamp),
    changes: Type.Optional(Type.Union([ChangesSummary, Type.Null()])),
    origin: Type.Optional(Type.Union([ChatOrigin, Type.Null()])),
    movable: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
    interactivity: Type.Optional(Type.Union([ChatInteractivity, Type.Null()])),
    workingDirectories: Type.Optional(Type.Union([Type.Array(URI), Type.Null()])),
  },
  { $id: 'ChatSummaryChanges', description: 'The new values of the members that changed; `null` removes one.' },
);
export type ChatSummaryChanges = Static<typeof ChatSummaryChanges>;

export const SessionChatUpdatedAction = Type.Object(
  { type: Type.Literal('session/chatUpdated'), chat: URI, changes: ChatSummaryChanges },
  { $id: 'SessionChatUpdatedAction', description: "Members of a chat's summary changed." },
);
export type SessionChatUpdatedAction = Static<typeof SessionChatUpdatedAction>;

export const SessionChatsReorderedAction = Type.Object(
  { type: Type.Literal('session/chatsReordered'), chats: Type.Array(URI) },
  { $id: 'SessionChatsReorderedAction', description: 'The chats have a new order.' },
);
export type SessionChatsReorderedAction = Static<typeof SessionChatsReorderedAction>;

export const SessionDefaultChatChangedAction = Type.Object(
  { type: Type.Literal('session/defaultChatChanged'), defaultChat: Type.Optional(URI) },
  { $id: 'SessionDefaultChatChangedAction', description: 'Another chat is the default one, or none is.' },
);
export type SessionDefaultChatChangedAction = Static<typeof SessionDefaultChatChangedAction>;

export const SessionChangesetsChangedAction = Type.Object(
  { type: Type.Literal('session/changesetsChanged'), changesets: Type.Optional(Type.Array(Changeset)) },
  { $id: 'SessionChangesetsChangedAction', description: 'The list of changesets changed; carries all of them.' },
);
export type SessionChangesetsChangedAction = Static<typeof SessionChangesetsChangedAction>;

export const SessionActiveClientSetAction = Type.Object(
  { type: Type.Literal('session/activeClientSet'), activeClient: SessionActiveClient },
  {
    $id: 'SessionActiveClientSetAction',
    description: 'A client joined, or its tools and plugins changed; carries all of them.',
  },
);
export type SessionActiveClientSetAction = Static<typeof SessionActiveClientSetAction>;

export const SessionActiveClientRemovedAction = Type.Object(
  { type: Type.Literal('session/activeClientRemoved'), clientId: Type.String() },
  { $id: 'SessionActiveClientRemovedAction', description: 'A client left.' },
);
export type SessionActiveClientRemovedAction = Static<typeof SessionActiveClientRemovedAction>;

export const SessionWorkingDirectorySetAction = Type.Object(
  { type: Type.Literal('session/workingDirectorySet'), directory: URI },
  { $id: 'SessionWorkingDirectorySetAction', description: 'The session works in one more folder.' },
);
export type SessionWorkingDirectorySetAction = Static<typeof SessionWorkingDirectorySetAction>;

export const SessionWorkingDirectoryRemovedAction = Type.Object(
  { type: Type.Literal('session/workingDirectoryRemoved'), directory: URI },
  { $id: 'SessionWorkingDirectoryRemovedAction', description: 'The session no longer works in a folder.' },
);
export type SessionWorkingDirectoryRemovedAction = Static<typeof SessionWorkingDirectoryRemovedAction>;

export const SessionWorkingDirectoryReplacedAction = Type.Object(
  { type: Type.Literal('session/workingDirectoryReplaced'), directory: URI, replacement: URI },
  { $id: 'SessionWorkingDirectoryReplacedAction', description: 'The session works in another folder instead of one.' },
);
export type SessionWorkingDirectoryReplacedAction = Static<typeof SessionWorkingDirectoryReplacedAction>;

export const SessionInputNeededSetAction = Type.Object(
  { type: Type.Literal('session/inputNeededSet'), request: SessionInputRequest },
  { $id: 'SessionInputNeededSetAction', description: 'Something waits; an entry with a known id is replaced.' },
);
export type SessionInputNeededSetAction = Static<typeof SessionInputNeededSetAction>;

export const SessionInputNeededRemovedAction = Type.Object(
  { type: Type.Literal('session/inputNeededRemoved'), id: Type.String() },
  { $id: 'SessionInputNeededRemovedAction', description: 'Something that waited was settled.' },
);
export type SessionInputNeededRemovedAction = Static<typeof SessionInputNeededRemovedAction>;

export const SessionCustomizationsChangedAction = Type.Object(
  { type: Type.Literal('session/customizationsChanged'), customizations: Type.Array(Customization) },
  { $id: 'SessionCustomizationsChangedAction', description: 'The customizations changed; carries all of them.' },
);
export type SessionCustomizationsChangedAction = Static<typeof SessionCustomizationsChangedAction>;

export const SessionCustomizationToggledAction = Type.Object(
  {
    type: Type.Literal('session/customizationToggled'),
    id: Type.String(),
    enablement: Type.Array(CustomizationEnablement, { description: 'All decisions, the most specific first.' }),
  },
  { $id: 'SessionCustomizationToggledAction', description: 'A customization was switched on or off.' },
);
export type SessionCustomizationToggledAction = Static<typeof SessionCustomizationToggledAction>;

export const SessionCustomizationUpdatedAction = Type.Object(
  { type: Type.Literal('session/customizationUpdated'), customization: Customization },
  {
    $id: 'SessionCustomizationUpdatedAction',
    description: 'One top-level entry changed; carries it with its children.',
  },
);
export type SessionCustomizationUpdatedAction = Static<typeof SessionCustomizationUpdatedAction>;

export const SessionMcpServerStateChangedAction = Type.Object(
  {
    type: Type.Literal('session/mcpServerStateChanged'),
    id: Type.String(),
    state: McpServerState,
    channel: Type.Optional(URI),
  },
  { $id: 'SessionMcpServerStateChangedAction', description: 'An MCP server started, stopped or failed.' },
);
export type SessionMcpServerStateChangedAction = Static<typeof SessionMcpServerStateChangedAction>;

export const SessionMcpServerStartRequestedAction = Type.Object(
  { type: Type.Literal('session/mcpServerStartRequested'), id: Type.String() },
  { $id: 'SessionMcpServerStartRequestedAction', description: 'A person wants an MCP server to start.' },
);
export type SessionMcpServerStartRequestedAction = Static<typeof SessionMcpServerStartRequestedAction>;

export const SessionMcpServerStopRequestedAction = Type.Object(
  { type: Type.Literal('session/mcpServerStopRequested'), id: Type.String() },
  { $id: 'SessionMcpServerStopRequestedAction', description: 'A person wants an MCP server to stop.' },
);
export type SessionMcpServerStopRequestedAction = Static<typeof SessionMcpServerStopRequestedAction>;

export const SessionMcpServerBackgroundRequestedAction = Type.Object(
  { type: Type.Literal('session/mcpServerBackgroundRequested'), id: Type.String() },
  {
    $id: 'SessionMcpServerBackgroundRequestedAction',
    description: 'A person wants the session to go on while an MCP server starts.',
  },
);
export type SessionMcpServerBackgroundRequestedAction = Static<typeof SessionMcpServerBackgroundRequestedAction>;

/** Every action of the session channel, by its type. */
export const sessionActions = {
  'session/ready': SessionReadyAction,
  'session/creationFailed': SessionCreationFailedAction,
  'session/chatAdded': SessionChatAddedAction,
  'session/chatRemoved': SessionChatRemovedAction,
  'session/chatUpdated': SessionChatUpdatedAction,
  'session/chatsReordered': SessionChatsReorderedAction,
  'session/defaultChatChanged': SessionDefaultChatChangedAction,
  'session/titleChanged': SessionTitleChangedAction,
  'session/isReadChanged': SessionIsReadChangedAction,
  'session/isArchivedChanged': SessionIsArchivedChangedAction,
  'session/activityChanged': SessionActivityChangedAction,
  'session/changesetsChanged': SessionChangesetsChangedAction,
  'session/serverToolsChanged': SessionServerToolsChangedAction,
  'session/activeClientSet': SessionActiveClientSetAction,
  'session/activeClientRemoved': SessionActiveClientRemovedAction,
  'session/workingDirectorySet': SessionWorkingDirectorySetAction,
  'session/workingDirectoryRemoved': SessionWorkingDirectoryRemovedAction,
  'session/workingDirectoryReplaced': SessionWorkingDirectoryReplacedAction,
  'session/inputNeededSet': SessionInputNeededSetAction,
  'session/inputNeededRemoved': SessionInputNeededRemovedAction,
  'session/customizationsChanged': SessionCustomizationsChangedAction,
  'session/customizationToggled': SessionCustomizationToggledAction,
  'session/customizationUpdated': SessionCustomizationUpdatedAction,
  'session/customizationRemoved': SessionCustomizationRemovedAction,
  'session/mcpServerStateChanged': SessionMcpServerStateChangedAction,
  'session/mcpServerStartRequested': SessionMcpServerStartRequestedAction,
  'session/mcpServerStopRequested': SessionMcpServerStopRequestedAction,
  'session/mcpServerBackgroundRequested': SessionMcpServerBackgroundRequestedAction,
  'session/configChanged': SessionConfigChangedAction,
  'session/metaChanged': SessionMetaChangedAction,
} as const;

export type SessionActionType = keyof typeof sessionActions;
export type SessionActionMap = { [Type in SessionActionType]: Static<(typeof sessionActions)[Type]> };
export type SessionAction = SessionActionMap[SessionActionType];
