import type { Static } from 'typebox';
import { SessionActiveClientChangedAction } from './actions/active-client-changed.js';
import { SessionActiveClientToolsChangedAction } from './actions/active-client-tools-changed.js';
import { SessionActivityChangedAction } from './actions/activity-changed.js';
import { SessionAgentChangedAction } from './actions/agent-changed.js';
import { SessionChangesetsChangedAction } from './actions/changesets-changed.js';
import { SessionConfigChangedAction } from './actions/config-changed.js';
import { SessionCreationFailedAction } from './actions/creation-failed.js';
import { SessionCustomizationRemovedAction } from './actions/customization-removed.js';
import { SessionCustomizationToggledAction } from './actions/customization-toggled.js';
import { SessionCustomizationUpdatedAction } from './actions/customization-updated.js';
import { SessionCustomizationsChangedAction } from './actions/customizations-changed.js';
import { SessionDeltaAction } from './actions/delta.js';
import { SessionErrorAction } from './actions/error.js';
import { SessionInputAnswerChangedAction } from './actions/input-answer-changed.js';
import { SessionInputCompletedAction } from './actions/input-completed.js';
import { SessionInputRequestedAction } from './actions/input-requested.js';
import { SessionIsArchivedChangedAction } from './actions/is-archived-changed.js';
import { SessionIsReadChangedAction } from './actions/is-read-changed.js';
import { SessionMetaChangedAction } from './actions/meta-changed.js';
import { SessionModelChangedAction } from './actions/model-changed.js';
import { SessionPendingMessageRemovedAction } from './actions/pending-message-removed.js';
import { SessionPendingMessageSetAction } from './actions/pending-message-set.js';
import { SessionQueuedMessagesReorderedAction } from './actions/queued-messages-reordered.js';
import { SessionReadyAction } from './actions/ready.js';
import { SessionReasoningAction } from './actions/reasoning.js';
import { SessionResponsePartAction } from './actions/response-part.js';
import { SessionServerToolsChangedAction } from './actions/server-tools-changed.js';
import { SessionTitleChangedAction } from './actions/title-changed.js';
import { SessionToolCallCompleteAction } from './actions/tool-call-complete.js';
import { SessionToolCallConfirmedAction } from './actions/tool-call-confirmed.js';
import { SessionToolCallContentChangedAction } from './actions/tool-call-content-changed.js';
import { SessionToolCallDeltaAction } from './actions/tool-call-delta.js';
import { SessionToolCallReadyAction } from './actions/tool-call-ready.js';
import { SessionToolCallResultConfirmedAction } from './actions/tool-call-result-confirmed.js';
import { SessionToolCallStartAction } from './actions/tool-call-start.js';
import { SessionTruncatedAction } from './actions/truncated.js';
import { SessionTurnCancelledAction } from './actions/turn-cancelled.js';
import { SessionTurnCompleteAction } from './actions/turn-complete.js';
import { SessionTurnStartedAction } from './actions/turn-started.js';
import { SessionUsageAction } from './actions/usage.js';

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
