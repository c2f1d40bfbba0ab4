/** The actions of a session: everything that can happen in one. Those of tool calls are in `tool-call-actions.ts`. */
import { type Static, Type } from 'typebox';
import { ChangesetSummary } from '../changeset/state.js';
import { AgentSelection, ErrorInfo, Meta, ModelSelection, UsageInfo } from '../common/types.js';
import { MapOf } from '../schema/define.js';
import { Customization } from './customizations.js';
import { SessionInputAnswer, SessionInputRequest, SessionInputResponseKind } from './input.js';
import { PendingMessageKind, UserMessage } from './messages.js';
import { SessionActiveClient } from './state.js';
import {
  SessionToolCallCompleteAction,
  SessionToolCallConfirmedAction,
  SessionToolCallContentChangedAction,
  SessionToolCallDeltaAction,
  SessionToolCallReadyAction,
  SessionToolCallResultConfirmedAction,
  SessionToolCallStartAction,
} from './tool-call-actions.js';
import { ToolDefinition } from './tool-calls.js';
import { ResponsePart } from './turns.js';

export const SessionReadyAction = Type.Object(
  { type: Type.Literal('session/ready') },
  { $id: 'SessionReadyAction', description: 'The agent is ready.' },
);
export type SessionReadyAction = Static<typeof SessionReadyAction>;

export const SessionCreationFailedAction = Type.Object(
  { type: Type.Literal('session/creationFailed'), error: ErrorInfo },
  { $id: 'SessionCreationFailedAction', description: 'The agent could not be started.' },
);
export type SessionCreationFailedAction = Static<typeof SessionCreationFailedAction>;

export const SessionTurnStartedAction = Type.Object(
  {
    type: Type.Literal('session/turnStarted'),
    turnId: Type.String({ description: 'A new id, chosen by the sender.' }),
    userMessage: UserMessage,
    queuedMessageId: Type.Optional(Type.String({ description: 'The waiting message that starts this turn.' })),
  },
  {
    $id: 'SessionTurnStartedAction',
    description: 'A message starts a turn; `queuedMessageId` removes it from the queue.',
  },
);
export type SessionTurnStartedAction = Static<typeof SessionTurnStartedAction>;

export const SessionDeltaAction = Type.Object(
  {
    type: Type.Literal('session/delta'),
    turnId: Type.String(),
    partId: Type.String({ description: 'The part of the answer that grows.' }),
    content: Type.String({ description: 'The text to append.' }),
  },
  { $id: 'SessionDeltaAction', description: 'Text appended to a markdown part.' },
);
export type SessionDeltaAction = Static<typeof SessionDeltaAction>;

export const SessionResponsePartAction = Type.Object(
  { type: Type.Literal('session/responsePart'), turnId: Type.String(), part: ResponsePart },
  { $id: 'SessionResponsePartAction', description: 'A new part of the answer.' },
);
export type SessionResponsePartAction = Static<typeof SessionResponsePartAction>;

export const SessionTurnCompleteAction = Type.Object(
  { type: Type.Literal('session/turnComplete'), turnId: Type.String() },
  { $id: 'SessionTurnCompleteAction', description: 'The turn ended normally.' },
);
export type SessionTurnCompleteAction = Static<typeof SessionTurnCompleteAction>;

export const SessionTurnCancelledAction = Type.Object(
  { type: Type.Literal('session/turnCancelled'), turnId: Type.String() },
  { $id: 'SessionTurnCancelledAction', description: 'The turn was stopped.' },
);
export type SessionTurnCancelledAction = Static<typeof SessionTurnCancelledAction>;

export const SessionErrorAction = Type.Object(
  { type: Type.Literal('session/error'), turnId: Type.String(), error: ErrorInfo },
  { $id: 'SessionErrorAction', description: 'The turn failed.' },
);
export type SessionErrorAction = Static<typeof SessionErrorAction>;

export const SessionTitleChangedAction = Type.Object(
  { type: Type.Literal('session/titleChanged'), title: Type.String() },
  { $id: 'SessionTitleChangedAction', description: 'The session has a new title.' },
);
export type SessionTitleChangedAction = Static<typeof SessionTitleChangedAction>;

export const SessionUsageAction = Type.Object(
  { type: Type.Literal('session/usage'), turnId: Type.String(), usage: UsageInfo },
  { $id: 'SessionUsageAction', description: 'The tokens that the turn has used so far.' },
);
export type SessionUsageAction = Static<typeof SessionUsageAction>;

export const SessionReasoningAction = Type.Object(
  {
    type: Type.Literal('session/reasoning'),
    turnId: Type.String(),
    partId: Type.String({ description: 'The part of the answer that grows.' }),
    content: Type.String({ description: 'The text to append.' }),
  },
  { $id: 'SessionReasoningAction', description: 'Text appended to a reasoning part.' },
);
export type SessionReasoningAction = Static<typeof SessionReasoningAction>;

export const SessionModelChangedAction = Type.Object(
  { type: Type.Literal('session/modelChanged'), model: ModelSelection },
  { $id: 'SessionModelChangedAction', description: 'Later turns use this model.' },
);
export type SessionModelChangedAction = Static<typeof SessionModelChangedAction>;

export const SessionAgentChangedAction = Type.Object(
  { type: Type.Literal('session/agentChanged'), agent: Type.Optional(AgentSelection) },
  {
    $id: 'SessionAgentChangedAction',
    description: "Later turns use this custom agent; without one, the provider's default.",
  },
);
export type SessionAgentChangedAction = Static<typeof SessionAgentChangedAction>;

export const SessionServerToolsChangedAction = Type.Object(
  { type: Type.Literal('session/serverToolsChanged'), tools: Type.Array(ToolDefinition) },
  {
    $id: 'SessionServerToolsChangedAction',
    description: "The host's tools changed; carries all of them.",
  },
);
export type SessionServerToolsChangedAction = Static<typeof SessionServerToolsChangedAction>;

export const SessionActiveClientChangedAction = Type.Object(
  {
    type: Type.Literal('session/activeClientChanged'),
    activeClient: Type.Optional(Type.Union([SessionActiveClient, Type.Null()])),
  },
  {
    $id: 'SessionActiveClientChangedAction',
    description: 'A client becomes the active client, or stops being it (`null`).',
  },
);
export type SessionActiveClientChangedAction = Static<typeof SessionActiveClientChangedAction>;

export const SessionActiveClientToolsChangedAction = Type.Object(
  { type: Type.Literal('session/activeClientToolsChanged'), tools: Type.Array(ToolDefinition) },
  {
    $id: 'SessionActiveClientToolsChangedAction',
    description: "The active client's tools changed; carries all of them.",
  },
);
export type SessionActiveClientToolsChangedAction = Static<typeof SessionActiveClientToolsChangedAction>;

export const SessionPendingMessageSetAction = Type.Object(
  {
    type: Type.Literal('session/pendingMessageSet'),
    kind: PendingMessageKind,
    id: Type.String(),
    userMessage: UserMessage,
  },
  {
    $id: 'SessionPendingMessageSetAction',
    description: 'A message waits to steer the running turn, or to start the next one.',
  },
);
export type SessionPendingMessageSetAction = Static<typeof SessionPendingMessageSetAction>;

export const SessionPendingMessageRemovedAction = Type.Object(
  { type: Type.Literal('session/pendingMessageRemoved'), kind: PendingMessageKind, id: Type.String() },
  { $id: 'SessionPendingMessageRemovedAction', description: 'A waiting message was withdrawn or delivered.' },
);
export type SessionPendingMessageRemovedAction = Static<typeof SessionPendingMessageRemovedAction>;

export const SessionQueuedMessagesReorderedAction = Type.Object(
  {
    type: Type.Literal('session/queuedMessagesReordered'),
    order: Type.Array(Type.String(), { description: 'The ids of queued messages.' }),
  },
  {
    $id: 'SessionQueuedMessagesReorderedAction',
    description: 'Queued messages have a new order; unnamed ones follow in their old order.',
  },
);
export type SessionQueuedMessagesReorderedAction = Static<typeof SessionQueuedMessagesReorderedAction>;

export const SessionInputRequestedAction = Type.Object(
  { type: Type.Literal('session/inputRequested'), request: SessionInputRequest },
  {
    $id: 'SessionInputRequestedAction',
    description: 'A person must answer something; a request with a known id replaces that request.',
  },
);
export type SessionInputRequestedAction = Static<typeof SessionInputRequestedAction>;

export const SessionInputAnswerChangedAction = Type.Object(
  {
    type: Type.Literal('session/inputAnswerChanged'),
    requestId: Type.String(),
    questionId: Type.String({ description: 'One of its questions.' }),
    answer: Type.Optional(SessionInputAnswer),
  },
  {
    $id: 'SessionInputAnswerChangedAction',
    description: 'The answer to one question changed; without an answer, it was withdrawn.',
  },
);
export type SessionInputAnswerChangedAction = Static<typeof SessionInputAnswerChangedAction>;

export const SessionInputCompletedAction = Type.Object(
  {
    type: Type.Literal('session/inputCompleted'),
    requestId: Type.String(),
    response: SessionInputResponseKind,
    answers: Type.Optional(MapOf(SessionInputAnswer)),
  },
  { $id: 'SessionInputCompletedAction', description: 'An input request was answered or closed.' },
);
export type SessionInputCompletedAction = Static<typeof SessionInputCompletedAction>;

export const SessionCustomizationsChangedAction = Type.Object(
  { type: Type.Literal('session/customizationsChanged'), customizations: Type.Array(Customization) },
  { $id: 'SessionCustomizationsChangedAction', description: 'The customizations changed; carries all of them.' },
);
export type SessionCustomizationsChangedAction = Static<typeof SessionCustomizationsChangedAction>;

export const SessionCustomizationToggledAction = Type.Object(
  { type: Type.Literal('session/customizationToggled'), id: Type.String(), enabled: Type.Boolean() },
  { $id: 'SessionCustomizationToggledAction', description: 'A container was switched on or off.' },
);
export type SessionCustomizationToggledAction = Static<typeof SessionCustomizationToggledAction>;

export const SessionCustomizationUpdatedAction = Type.Object(
  { type: Type.Literal('session/customizationUpdated'), customization: Customization },
  { $id: 'SessionCustomizationUpdatedAction', description: 'One container changed; carries it with its children.' },
);
export type SessionCustomizationUpdatedAction = Static<typeof SessionCustomizationUpdatedAction>;

export const SessionCustomizationRemovedAction = Type.Object(
  { type: Type.Literal('session/customizationRemoved'), id: Type.String() },
  { $id: 'SessionCustomizationRemovedAction', description: 'A container or one child was removed.' },
);
export type SessionCustomizationRemovedAction = Static<typeof SessionCustomizationRemovedAction>;

export const SessionTruncatedAction = Type.Object(
  {
    type: Type.Literal('session/truncated'),
    turnId: Type.Optional(Type.String({ description: 'The last turn that remains.' })),
  },
  {
    $id: 'SessionTruncatedAction',
    description: 'The turns after the named one were removed; without a name, all turns.',
  },
);
export type SessionTruncatedAction = Static<typeof SessionTruncatedAction>;

export const SessionIsReadChangedAction = Type.Object(
  {
    type: Type.Literal('session/isReadChanged'),
    isRead: Type.Boolean({ description: 'Whether a person has seen the latest changes.' }),
  },
  { $id: 'SessionIsReadChangedAction', description: 'The session was read, or marked unread.' },
);
export type SessionIsReadChangedAction = Static<typeof SessionIsReadChangedAction>;

export const SessionIsArchivedChangedAction = Type.Object(
  {
    type: Type.Literal('session/isArchivedChanged'),
    isArchived: Type.Boolean({ description: 'Whether it is archived.' }),
  },
  { $id: 'SessionIsArchivedChangedAction', description: 'The session was archived, or taken out of the archive.' },
);
export type SessionIsArchivedChangedAction = Static<typeof SessionIsArchivedChangedAction>;

export const SessionActivityChangedAction = Type.Object(
  {
    type: Type.Literal('session/activityChanged'),
    activity: Type.Optional(Type.String({ description: 'In a few words; absent when the session is idle.' })),
  },
  { $id: 'SessionActivityChangedAction', description: 'What the session is doing now, in a few words.' },
);
export type SessionActivityChangedAction = Static<typeof SessionActivityChangedAction>;

export const SessionChangesetsChangedAction = Type.Object(
  { type: Type.Literal('session/changesetsChanged'), changesets: Type.Optional(Type.Array(ChangesetSummary)) },
  { $id: 'SessionChangesetsChangedAction', description: 'The list of changesets changed; carries all of them.' },
);
export type SessionChangesetsChangedAction = Static<typeof SessionChangesetsChangedAction>;

export const SessionConfigChangedAction = Type.Object(
  {
    type: Type.Literal('session/configChanged'),
    config: MapOf(Type.Unknown(), { description: 'Values by property name.' }),
    replace: Type.Optional(Type.Boolean()),
  },
  {
    $id: 'SessionConfigChangedAction',
    description: "Values of the session's configuration were merged, or replaced as a whole.",
  },
);
export type SessionConfigChangedAction = Static<typeof SessionConfigChangedAction>;

export const SessionMetaChangedAction = Type.Object(
  { type: Type.Literal('session/metaChanged'), _meta: Type.Optional(Meta) },
  { $id: 'SessionMetaChangedAction', description: "The session's metadata changed; carries all of it." },
);
export type SessionMetaChangedAction = Static<typeof SessionMetaChangedAction>;

/** Every action of the session channel, by its type. */
export const sessionActions = {
  'session/ready': SessionReadyAction,
  'session/creationFailed': SessionCreationFailedAction,
  'session/turnStarted': SessionTurnStartedAction,
  'session/delta': SessionDeltaAction,
  'session/responsePart': SessionResponsePartAction,
  'session/toolCallStart': SessionToolCallStartAction,
  'session/toolCallDelta': SessionToolCallDeltaAction,
  'session/toolCallReady': SessionToolCallReadyAction,
  'session/toolCallConfirmed': SessionToolCallConfirmedAction,
  'session/toolCallComplete': SessionToolCallCompleteAction,
  'session/toolCallResultConfirmed': SessionToolCallResultConfirmedAction,
  'session/toolCallContentChanged': SessionToolCallContentChangedAction,
  'session/turnComplete': SessionTurnCompleteAction,
  'session/turnCancelled': SessionTurnCancelledAction,
  'session/error': SessionErrorAction,
  'session/titleChanged': SessionTitleChangedAction,
  'session/usage': SessionUsageAction,
  'session/reasoning': SessionReasoningAction,
  'session/modelChanged': SessionModelChangedAction,
  'session/agentChanged': SessionAgentChangedAction,
  'session/serverToolsChanged': SessionServerToolsChangedAction,
  'session/activeClientChanged': SessionActiveClientChangedAction,
  'session/activeClientToolsChanged': SessionActiveClientToolsChangedAction,
  'session/pendingMessageSet': SessionPendingMessageSetAction,
  'session/pendingMessageRemoved': SessionPendingMessageRemovedAction,
  'session/queuedMessagesReordered': SessionQueuedMessagesReorderedAction,
  'session/inputRequested': SessionInputRequestedAction,
  'session/inputAnswerChanged': SessionInputAnswerChangedAction,
  'session/inputCompleted': SessionInputCompletedAction,
  'session/customizationsChanged': SessionCustomizationsChangedAction,
  'session/customizationToggled': SessionCustomizationToggledAction,
  'session/customizationUpdated': SessionCustomizationUpdatedAction,
  'session/customizationRemoved': SessionCustomizationRemovedAction,
  'session/truncated': SessionTruncatedAction,
  'session/isReadChanged': SessionIsReadChangedAction,
  'session/isArchivedChanged': SessionIsArchivedChangedAction,
  'session/activityChanged': SessionActivityChangedAction,
  'session/changesetsChanged': SessionChangesetsChangedAction,
  'session/configChanged': SessionConfigChangedAction,
  'session/metaChanged': SessionMetaChangedAction,
} as const;

export type SessionActionType = keyof typeof sessionActions;
export type SessionActionMap = { [Type in SessionActionType]: Static<(typeof sessionActions)[Type]> };
export type SessionAction = SessionActionMap[SessionActionType];
