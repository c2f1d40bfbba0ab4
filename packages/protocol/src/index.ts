/**
 * The Agent Host Protocol: what can be said, what it means, and since when.
 *
 * Validators are in `@atrium/protocol/validation`, schemas in `@atrium/protocol/schemas`, the messages of providers in
 * `@atrium/protocol/provider`, older wires in `@atrium/protocol/dialects`.
 */
export type { ActionMap, ActionType, StateAction } from './actions.js';
export type { ChangesetClearedAction } from './changeset/actions/cleared.js';
export type { ChangesetFileRemovedAction } from './changeset/actions/file-removed.js';
export type { ChangesetFileSetAction } from './changeset/actions/file-set.js';
export type { ChangesetOperationsChangedAction } from './changeset/actions/operations-changed.js';
export type { ChangesetStatusChangedAction } from './changeset/actions/status-changed.js';
export type { ChangesetAction, ChangesetActionMap, ChangesetActionType } from './changeset/actions.js';
export type {
  ChangesetOperationFollowUp,
  ChangesetOperationRangeTarget,
  ChangesetOperationResourceTarget,
  ChangesetOperationTarget,
  InvokeChangesetOperationParams,
  InvokeChangesetOperationResult,
} from './changeset/commands/invoke-changeset-operation.js';
export { changesetReducer } from './changeset/reducer.js';
export type { ChangesetFile } from './changeset/state/changeset-file.js';
export type { ChangesetOperation } from './changeset/state/changeset-operation.js';
export type { ChangesetOperationScope } from './changeset/state/changeset-operation-scope.js';
export type { ChangesetState } from './changeset/state/changeset-state.js';
export type { ChangesetStatus } from './changeset/state/changeset-status.js';
export { actionKind, type ChannelKind, channelKind, ROOT_CHANNEL } from './channels.js';
export type { ActionEnvelope } from './common/action-envelope.js';
export type { ActionOrigin } from './common/action-origin.js';
export type { AgentSelection } from './common/agent-selection.js';
export type { ConfigPropertySchema } from './common/config-property-schema.js';
export type { ConfigSchema } from './common/config-schema.js';
export type { RootConfigState } from './common/config-state.js';
export type { ContentRef } from './common/content-ref.js';
export type { ErrorInfo } from './common/error-info.js';
export type { FileEdit } from './common/file-edit.js';
export type { FileEditDiff } from './common/file-edit-diff.js';
export type { FileEditSide } from './common/file-edit-side.js';
export type { Icon } from './common/icon.js';
export type { Meta } from './common/meta.js';
export type { ModelSelection } from './common/model-selection.js';
export type { ProtectedResourceMetadata } from './common/protected-resource-metadata.js';
export type { Snapshot } from './common/snapshot.js';
export type { StringOrMarkdown } from './common/string-or-markdown.js';
export type { TextPosition } from './common/text-position.js';
export type { TextRange } from './common/text-range.js';
export type { TextSelection } from './common/text-selection.js';
export {
  asksOneOf,
  membersBesideEdits,
  type ShownEdit,
  type ToolInputMember,
  toolInputMembers,
  toolInputObject,
} from './common/tool-input.js';
export type { URI } from './common/uri.js';
export type { UsageInfo } from './common/usage-info.js';
export {
  COMBINING_MARKS_MAX,
  isVisible,
  type VisibleSegment,
  type VisibleTextMode,
  visibleSegments,
  visibleText,
} from './common/visible-text.js';
export { CLIENT_DISPATCHABLE, isClientDispatchable } from './dispatchable.js';
export type { AuthRequiredErrorData } from './errors/auth-required-error-data.js';
export { ErrorCode } from './errors/error-codes.js';
export type { ErrorDataMap } from './errors/error-data.js';
export type { PermissionDeniedErrorData } from './errors/permission-denied-error-data.js';
export type { UnsupportedProtocolVersionErrorData } from './errors/unsupported-protocol-version-error-data.js';
export type {
  ClientNotificationMethod,
  ClientNotifications,
  ClientRequestMethod,
  ClientRequests,
  HostNotificationMethod,
  HostNotifications,
  HostRequestMethod,
  HostRequests,
} from './methods.js';
export type { OtlpExportLogsParams } from './otlp/notifications/export-logs.js';
export type { OtlpExportMetricsParams } from './otlp/notifications/export-metrics.js';
export type { OtlpExportTracesParams } from './otlp/notifications/export-traces.js';
export type { TelemetryCapabilities } from './otlp/state/telemetry-capabilities.js';
export type { ReduceContext, Reducer, UnknownAction } from './reducing.js';
export type { ResourceWatchChangedAction } from './resource-watch/actions/changed.js';
export type { ResourceWatchAction, ResourceWatchActionMap, ResourceWatchActionType } from './resource-watch/actions.js';
export type {
  CreateResourceWatchParams,
  CreateResourceWatchResult,
} from './resource-watch/commands/create-resource-watch.js';
export { resourceWatchReducer } from './resource-watch/reducer.js';
export type { ResourceChange } from './resource-watch/state/resource-change.js';
export type { ResourceChangeList } from './resource-watch/state/resource-change-list.js';
export type { ResourceChangeType } from './resource-watch/state/resource-change-type.js';
export type { ResourceWatchState } from './resource-watch/state/resource-watch-state.js';
export type { WatchFilter } from './resource-watch/state/watch-filter.js';
export type { RootActiveSessionsChangedAction } from './root/actions/active-sessions-changed.js';
export type { RootAgentsChangedAction } from './root/actions/agents-changed.js';
export type { RootConfigChangedAction } from './root/actions/config-changed.js';
export type { RootTerminalsChangedAction } from './root/actions/terminals-changed.js';
export type { RootAction, RootActionMap, RootActionType } from './root/actions.js';
export type { AuthenticateParams, AuthenticateResult } from './root/commands/authenticate.js';
export type { ContentEncoding } from './root/commands/content-encoding.js';
export type { InitializeParams, InitializeResult } from './root/commands/initialize.js';
export type { ListSessionsParams, ListSessionsResult } from './root/commands/list-sessions.js';
export type { PingParams, PingResult } from './root/commands/ping.js';
export type {
  ReconnectParams,
  ReconnectReplayResult,
  ReconnectResult,
  ReconnectSnapshotResult,
} from './root/commands/reconnect.js';
export type { ResolveSessionConfigParams, ResolveSessionConfigResult } from './root/commands/resolve-session-config.js';
export type { ResourceCopyParams, ResourceCopyResult } from './root/commands/resource-copy.js';
export type { ResourceDeleteParams, ResourceDeleteResult } from './root/commands/resource-delete.js';
export type { DirectoryEntry, ResourceListParams, ResourceListResult } from './root/commands/resource-list.js';
export type { ResourceMkdirParams, ResourceMkdirResult } from './root/commands/resource-mkdir.js';
export type { ResourceMoveParams, ResourceMoveResult } from './root/commands/resource-move.js';
export type { ResourceReadParams, ResourceReadResult } from './root/commands/resource-read.js';
export type { ResourceRequestParams, ResourceRequestResult } from './root/commands/resource-request.js';
export type { ResourceResolveParams, ResourceResolveResult, ResourceType } from './root/commands/resource-resolve.js';
export type { ResourceWriteMode, ResourceWriteParams, ResourceWriteResult } from './root/commands/resource-write.js';
export type {
  SessionConfigCompletionsParams,
  SessionConfigCompletionsResult,
  SessionConfigValueItem,
} from './root/commands/session-config-completions.js';
export type { SubscribeParams, SubscribeResult } from './root/commands/subscribe.js';
export type { AuthRequiredParams } from './root/notifications/auth-required.js';
export type { DispatchActionParams } from './root/notifications/dispatch-action.js';
export type { SessionAddedParams } from './root/notifications/session-added.js';
export type { SessionRemovedParams } from './root/notifications/session-removed.js';
export type { SessionSummaryChangedParams } from './root/notifications/session-summary-changed.js';
export type { SessionSummaryChanges } from './root/notifications/session-summary-changes.js';
export type { UnsubscribeParams } from './root/notifications/unsubscribe.js';
export { rootReducer } from './root/reducer.js';
export type { AgentInfo } from './root/state/agent-info.js';
export type { PolicyState } from './root/state/policy-state.js';
export type { RootState } from './root/state/root-state.js';
export type { SessionModelInfo } from './root/state/session-model-info.js';
export type { SystemMessageSection } from './root/state/system-message-section.js';
export type { JsonRpcErrorObject } from './rpc/error-object.js';
export type { JsonRpcErrorResponse } from './rpc/error-response.js';
export type { JsonRpcNotification } from './rpc/notification.js';
export type { JsonRpcRequest } from './rpc/request.js';
export type { JsonRpcSuccessResponse } from './rpc/success-response.js';
export type { SessionActiveClientChangedAction } from './session/actions/active-client-changed.js';
export type { SessionActiveClientToolsChangedAction } from './session/actions/active-client-tools-changed.js';
export type { SessionActivityChangedAction } from './session/actions/activity-changed.js';
export type { SessionAgentChangedAction } from './session/actions/agent-changed.js';
export type { SessionChangesetsChangedAction } from './session/actions/changesets-changed.js';
export type { SessionConfigChangedAction } from './session/actions/config-changed.js';
export type { SessionCreationFailedAction } from './session/actions/creation-failed.js';
export type { SessionCustomizationRemovedAction } from './session/actions/customization-removed.js';
export type { SessionCustomizationToggledAction } from './session/actions/customization-toggled.js';
export type { SessionCustomizationUpdatedAction } from './session/actions/customization-updated.js';
export type { SessionCustomizationsChangedAction } from './session/actions/customizations-changed.js';
export type { SessionDeltaAction } from './session/actions/delta.js';
export type { SessionErrorAction } from './session/actions/error.js';
export type { SessionInputAnswerChangedAction } from './session/actions/input-answer-changed.js';
export type { SessionInputCompletedAction } from './session/actions/input-completed.js';
export type { SessionInputRequestedAction } from './session/actions/input-requested.js';
export type { SessionIsArchivedChangedAction } from './session/actions/is-archived-changed.js';
export type { SessionIsReadChangedAction } from './session/actions/is-read-changed.js';
export type { SessionMetaChangedAction } from './session/actions/meta-changed.js';
export type { SessionModelChangedAction } from './session/actions/model-changed.js';
export type { SessionPendingMessageRemovedAction } from './session/actions/pending-message-removed.js';
export type { SessionPendingMessageSetAction } from './session/actions/pending-message-set.js';
export type { SessionQueuedMessagesReorderedAction } from './session/actions/queued-messages-reordered.js';
export type { SessionReadyAction } from './session/actions/ready.js';
export type { SessionReasoningAction } from './session/actions/reasoning.js';
export type { SessionResponsePartAction } from './session/actions/response-part.js';
export type { SessionServerToolsChangedAction } from './session/actions/server-tools-changed.js';
export type { SessionTitleChangedAction } from './session/actions/title-changed.js';
export type { SessionToolCallApprovedAction } from './session/actions/tool-call-approved.js';
export type { SessionToolCallCompleteAction } from './session/actions/tool-call-complete.js';
export type { SessionToolCallConfirmedAction } from './session/actions/tool-call-confirmed.js';
export type { SessionToolCallContentChangedAction } from './session/actions/tool-call-content-changed.js';
export type { SessionToolCallDeltaAction } from './session/actions/tool-call-delta.js';
export type { SessionToolCallDeniedAction } from './session/actions/tool-call-denied.js';
export type { SessionToolCallReadyAction } from './session/actions/tool-call-ready.js';
export type { SessionToolCallResultConfirmedAction } from './session/actions/tool-call-result-confirmed.js';
export type { SessionToolCallStartAction } from './session/actions/tool-call-start.js';
export type { SessionTruncatedAction } from './session/actions/truncated.js';
export type { SessionTurnCancelledAction } from './session/actions/turn-cancelled.js';
export type { SessionTurnCompleteAction } from './session/actions/turn-complete.js';
export type { SessionTurnStartedAction } from './session/actions/turn-started.js';
export type { SessionUsageAction } from './session/actions/usage.js';
export type { SessionAction, SessionActionMap, SessionActionType } from './session/actions.js';
export type { CompletionItem, CompletionsParams, CompletionsResult } from './session/commands/completions.js';
export type { CreateSessionParams, CreateSessionResult, SessionForkSource } from './session/commands/create-session.js';
export type { DisposeSessionParams, DisposeSessionResult } from './session/commands/dispose-session.js';
export type { FetchTurnsParams, FetchTurnsResult } from './session/commands/fetch-turns.js';
export type {
  SystemMessageSectionContent,
  SystemMessageTransformParams,
  SystemMessageTransformResult,
} from './session/commands/system-message-transform.js';
export { type ProjectOfWorktree, projectLabel } from './session/project-label.js';
export { sessionReducer } from './session/reducer.js';
export {
  callableNames,
  commandIn,
  hasCallableNames,
  readSlash,
  type SlashVerdict,
} from './session/slash-commands.js';
export type { ActiveTurn } from './session/state/active-turn.js';
export type { AgentCustomization } from './session/state/agent-customization.js';
export type { ChangesetSummary } from './session/state/changeset-summary.js';
export type { ChildCustomization } from './session/state/child-customization.js';
export type { ChildCustomizationType } from './session/state/child-customization-type.js';
export type { ClientPluginCustomization } from './session/state/client-plugin-customization.js';
export type { ConfirmationOption } from './session/state/confirmation-option.js';
export type { Customization } from './session/state/customization.js';
export type { CustomizationDegradedState } from './session/state/customization-degraded-state.js';
export type { CustomizationErrorState } from './session/state/customization-error-state.js';
export type { CustomizationLoadState } from './session/state/customization-load-state.js';
export type { CustomizationLoadedState } from './session/state/customization-loaded-state.js';
export type { CustomizationLoadingState } from './session/state/customization-loading-state.js';
export type { DirectoryCustomization } from './session/state/directory-customization.js';
export type { FileEditList } from './session/state/file-edit-list.js';
export type { HookCustomization } from './session/state/hook-customization.js';
export type { MarkdownResponsePart } from './session/state/markdown-response-part.js';
export type { McpServerCustomization } from './session/state/mcp-server-customization.js';
export type { MessageAttachment } from './session/state/message-attachment.js';
export type { MessageEmbeddedResourceAttachment } from './session/state/message-embedded-resource-attachment.js';
export type { MessageResourceAttachment } from './session/state/message-resource-attachment.js';
export type { PendingMessage } from './session/state/pending-message.js';
export type { PendingMessageKind } from './session/state/pending-message-kind.js';
export type { PluginCustomization } from './session/state/plugin-customization.js';
export type { ProjectInfo } from './session/state/project-info.js';
export type { PromptCustomization } from './session/state/prompt-customization.js';
export type { ReasoningResponsePart } from './session/state/reasoning-response-part.js';
export type { ResourceResponsePart } from './session/state/resource-response-part.js';
export type { ResponsePart } from './session/state/response-part.js';
export type { RuleCustomization } from './session/state/rule-customization.js';
export type { SessionActiveClient } from './session/state/session-active-client.js';
export type { SessionConfigPropertySchema } from './session/state/session-config-property-schema.js';
export type { SessionConfigSchema } from './session/state/session-config-schema.js';
export type { SessionConfigState } from './session/state/session-config-state.js';
export type { SessionInputAnswer } from './session/state/session-input-answer.js';
export type { SessionInputAnswerValue } from './session/state/session-input-answer-value.js';
export type { SessionInputAnswered } from './session/state/session-input-answered.js';
export type { SessionInputBooleanAnswerValue } from './session/state/session-input-boolean-answer-value.js';
export type { SessionInputBooleanQuestion } from './session/state/session-input-boolean-question.js';
export type { SessionInputMultiSelectQuestion } from './session/state/session-input-multi-select-question.js';
export type { SessionInputNumberAnswerValue } from './session/state/session-input-number-answer-value.js';
export type { SessionInputNumberQuestion } from './session/state/session-input-number-question.js';
export type { SessionInputOption } from './session/state/session-input-option.js';
export type { SessionInputQuestion } from './session/state/session-input-question.js';
export type { SessionInputRequest } from './session/state/session-input-request.js';
export type { SessionInputResponseKind } from './session/state/session-input-response-kind.js';
export type { SessionInputSelectedAnswerValue } from './session/state/session-input-selected-answer-value.js';
export type { SessionInputSelectedManyAnswerValue } from './session/state/session-input-selected-many-answer-value.js';
export type { SessionInputSingleSelectQuestion } from './session/state/session-input-single-select-question.js';
export type { SessionInputSkipped } from './session/state/session-input-skipped.js';
export type { SessionInputTextAnswerValue } from './session/state/session-input-text-answer-value.js';
export type { SessionInputTextQuestion } from './session/state/session-input-text-question.js';
export type { SessionLifecycle } from './session/state/session-lifecycle.js';
export type { SessionState } from './session/state/session-state.js';
export type { SessionSummary } from './session/state/session-summary.js';
export type { SimpleMessageAttachment } from './session/state/simple-message-attachment.js';
export type { SkillCustomization } from './session/state/skill-customization.js';
export type { SystemMessageTransformOptIn } from './session/state/system-message-transform-opt-in.js';
export type { SystemNotificationResponsePart } from './session/state/system-notification-response-part.js';
export type { ToolAnnotations } from './session/state/tool-annotations.js';
export type { ToolCallCancellationReason } from './session/state/tool-call-cancellation-reason.js';
export type { ToolCallCancelledState } from './session/state/tool-call-cancelled-state.js';
export type { ToolCallCompletedState } from './session/state/tool-call-completed-state.js';
export type { ToolCallConfirmationReason } from './session/state/tool-call-confirmation-reason.js';
export type { ToolCallError } from './session/state/tool-call-error.js';
export type { ToolCallPendingConfirmationState } from './session/state/tool-call-pending-confirmation-state.js';
export type { ToolCallPendingResultConfirmationState } from './session/state/tool-call-pending-result-confirmation-state.js';
export type { ToolCallResponsePart } from './session/state/tool-call-response-part.js';
export type { ToolCallResult } from './session/state/tool-call-result.js';
export type { ToolCallRunningState } from './session/state/tool-call-running-state.js';
export type { ToolCallState } from './session/state/tool-call-state.js';
export type { ToolCallStreamingState } from './session/state/tool-call-streaming-state.js';
export type { ToolDefinition } from './session/state/tool-definition.js';
export type { ToolResultContent } from './session/state/tool-result-content.js';
export type { ToolResultEmbeddedResourceContent } from './session/state/tool-result-embedded-resource-content.js';
export type { ToolResultFileEditContent } from './session/state/tool-result-file-edit-content.js';
export type { ToolResultResourceContent } from './session/state/tool-result-resource-content.js';
export type { ToolResultSubagentContent } from './session/state/tool-result-subagent-content.js';
export type { ToolResultTerminalContent } from './session/state/tool-result-terminal-content.js';
export type { ToolResultTextContent } from './session/state/tool-result-text-content.js';
export type { ToolSchema } from './session/state/tool-schema.js';
export type { Turn } from './session/state/turn.js';
export type { TurnState } from './session/state/turn-state.js';
export type { UserMessage } from './session/state/user-message.js';
export { ACTIVITY_MASK, SessionStatus } from './session/status.js';
export { type SteeringPart, steeringIn, steeringPart } from './session/steering.js';
export type { TerminalClaimedAction } from './terminal/actions/claimed.js';
export type { TerminalClearedAction } from './terminal/actions/cleared.js';
export type { TerminalCommandDetectionAvailableAction } from './terminal/actions/command-detection-available.js';
export type { TerminalCommandExecutedAction } from './terminal/actions/command-executed.js';
export type { TerminalCommandFinishedAction } from './terminal/actions/command-finished.js';
export type { TerminalCwdChangedAction } from './terminal/actions/cwd-changed.js';
export type { TerminalDataAction } from './terminal/actions/data.js';
export type { TerminalExitedAction } from './terminal/actions/exited.js';
export type { TerminalInputAction } from './terminal/actions/input.js';
export type { TerminalResizedAction } from './terminal/actions/resized.js';
export type { TerminalTitleChangedAction } from './terminal/actions/title-changed.js';
export type { TerminalAction, TerminalActionMap, TerminalActionType } from './terminal/actions.js';
export type { CreateTerminalParams, CreateTerminalResult } from './terminal/commands/create-terminal.js';
export type { DisposeTerminalParams, DisposeTerminalResult } from './terminal/commands/dispose-terminal.js';
export { terminalReducer } from './terminal/reducer.js';
export type { TerminalClaim } from './terminal/state/terminal-claim.js';
export type { TerminalClientClaim } from './terminal/state/terminal-client-claim.js';
export type { TerminalCommandPart } from './terminal/state/terminal-command-part.js';
export type { TerminalContentPart } from './terminal/state/terminal-content-part.js';
export type { TerminalInfo } from './terminal/state/terminal-info.js';
export type { TerminalSessionClaim } from './terminal/state/terminal-session-claim.js';
export type { TerminalState } from './terminal/state/terminal-state.js';
export type { TerminalUnclassifiedPart } from './terminal/state/terminal-unclassified-part.js';
export { capabilities, type ProtocolCapabilities } from './versions/capabilities.js';
export {
  ACTION_INTRODUCED_IN,
  isActionKnown,
  isNotificationKnown,
  isServerCommandKnown,
  NOTIFICATION_INTRODUCED_IN,
  SERVER_COMMAND_INTRODUCED_IN,
} from './versions/registry.js';
export {
  type Negotiation,
  negotiate,
  PROTOCOL_FINGERPRINT,
  PROTOCOL_VERSION,
  parseVersion,
  SUPPORTED_PROTOCOL_VERSIONS,
  type SupportedVersion,
  V1_PROTOCOL_VERSION,
} from './versions/versions.js';
