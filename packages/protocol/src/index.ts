/**
 * The Agent Host Protocol: its types, reducers and versions.
 *
 * Validators are in `@atrium/protocol/validation`, schemas in `@atrium/protocol/schemas`, the messages of providers in
 * `@atrium/protocol/provider`, older wires in `@atrium/protocol/dialects`.
 */
export type { ActionMap, ActionType, StateAction } from './actions.js';
export {
  asksOneOf,
  callableNames,
  commandIn,
  hasCallableNames,
  membersBesideEdits,
  readSlash,
  toolInputMembers,
  toolInputObject,
} from './ahp-1/index.js';
export type {
  ChangesetAction,
  ChangesetActionMap,
  ChangesetActionType,
  ChangesetClearedAction,
  ChangesetFileRemovedAction,
  ChangesetFileSetAction,
  ChangesetOperationsChangedAction,
  ChangesetStatusChangedAction,
} from './changeset/actions.js';
export type {
  ChangesetOperationFollowUp,
  ChangesetOperationRangeTarget,
  ChangesetOperationResourceTarget,
  ChangesetOperationTarget,
  InvokeChangesetOperationParams,
  InvokeChangesetOperationResult,
} from './changeset/commands.js';
export { changesetReducer } from './changeset/reducer.js';
export type {
  ChangesetFile,
  ChangesetOperation,
  ChangesetOperationScope,
  ChangesetState,
  ChangesetStatus,
  ChangesetSummary,
} from './changeset/state.js';
export { actionKind, type ChannelKind, channelKind, ROOT_CHANNEL } from './channels.js';
export type { ConfigPropertySchema, ConfigSchema, RootConfigState } from './common/config.js';
export type { ActionEnvelope, ActionOrigin, Snapshot } from './common/envelope.js';
export type {
  AgentSelection,
  ContentRef,
  ErrorInfo,
  FileEdit,
  FileEditDiff,
  FileEditSide,
  Icon,
  Meta,
  ModelSelection,
  StringOrMarkdown,
  TextPosition,
  TextRange,
  TextSelection,
  URI,
  UsageInfo,
} from './common/types.js';
export {
  COMBINING_MARKS_MAX,
  isVisible,
  type VisibleSegment,
  type VisibleTextMode,
  visibleSegments,
  visibleText,
} from './common/visible-text.js';
export { CLIENT_DISPATCHABLE, isClientDispatchable } from './dispatchable.js';
export { ErrorCode } from './errors/codes.js';
export type {
  AuthRequiredErrorData,
  ErrorDataMap,
  PermissionDeniedErrorData,
  UnsupportedProtocolVersionErrorData,
} from './errors/data.js';
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
export type {
  OtlpExportLogsParams,
  OtlpExportMetricsParams,
  OtlpExportTracesParams,
  TelemetryCapabilities,
} from './otlp/telemetry.js';
export type { ReduceContext, Reducer, UnknownAction } from './reducing.js';
export type {
  ResourceWatchAction,
  ResourceWatchActionMap,
  ResourceWatchActionType,
  ResourceWatchChangedAction,
} from './resource-watch/actions.js';
export type {
  CreateResourceWatchParams,
  CreateResourceWatchResult,
} from './resource-watch/commands.js';
export { resourceWatchReducer } from './resource-watch/reducer.js';
export type {
  ResourceChange,
  ResourceChangeList,
  ResourceChangeType,
  ResourceWatchState,
  WatchFilter,
} from './resource-watch/state.js';
export type {
  RootAction,
  RootActionMap,
  RootActionType,
  RootActiveSessionsChangedAction,
  RootAgentsChangedAction,
  RootConfigChangedAction,
  RootTerminalsChangedAction,
} from './root/actions.js';
export type {
  AuthenticateParams,
  AuthenticateResult,
  AuthRequiredParams,
  ProtectedResourceMetadata,
} from './root/authentication.js';
export type {
  ListSessionsParams,
  ListSessionsResult,
  ResolveSessionConfigParams,
  ResolveSessionConfigResult,
  SessionAddedParams,
  SessionConfigCompletionsParams,
  SessionConfigCompletionsResult,
  SessionConfigValueItem,
  SessionRemovedParams,
  SessionSummaryChangedParams,
  SessionSummaryChanges,
} from './root/commands.js';
export type {
  DispatchActionParams,
  InitializeParams,
  InitializeResult,
  PingParams,
  PingResult,
  ReconnectParams,
  ReconnectReplayResult,
  ReconnectResult,
  ReconnectSnapshotResult,
  SubscribeParams,
  SubscribeResult,
  UnsubscribeParams,
} from './root/connection.js';
export { rootReducer } from './root/reducer.js';
export type {
  ContentEncoding,
  DirectoryEntry,
  ResourceCopyParams,
  ResourceCopyResult,
  ResourceDeleteParams,
  ResourceDeleteResult,
  ResourceListParams,
  ResourceListResult,
  ResourceMkdirParams,
  ResourceMkdirResult,
  ResourceMoveParams,
  ResourceMoveResult,
  ResourceReadParams,
  ResourceReadResult,
  ResourceRequestParams,
  ResourceRequestResult,
  ResourceResolveParams,
  ResourceResolveResult,
  ResourceType,
  ResourceWriteMode,
  ResourceWriteParams,
  ResourceWriteResult,
} from './root/resources.js';
export type { AgentInfo, PolicyState, RootState, SessionModelInfo, SystemMessageSection } from './root/state.js';
export type {
  JsonRpcErrorObject,
  JsonRpcErrorResponse,
  JsonRpcNotification,
  JsonRpcRequest,
  JsonRpcSuccessResponse,
} from './rpc.js';
export type {
  SessionAction,
  SessionActionMap,
  SessionActionType,
  SessionActiveClientChangedAction,
  SessionActiveClientToolsChangedAction,
  SessionActivityChangedAction,
  SessionAgentChangedAction,
  SessionChangesetsChangedAction,
  SessionConfigChangedAction,
  SessionCreationFailedAction,
  SessionCustomizationRemovedAction,
  SessionCustomizationsChangedAction,
  SessionCustomizationToggledAction,
  SessionCustomizationUpdatedAction,
  SessionDeltaAction,
  SessionErrorAction,
  SessionInputAnswerChangedAction,
  SessionInputCompletedAction,
  SessionInputRequestedAction,
  SessionIsArchivedChangedAction,
  SessionIsReadChangedAction,
  SessionMetaChangedAction,
  SessionModelChangedAction,
  SessionPendingMessageRemovedAction,
  SessionPendingMessageSetAction,
  SessionQueuedMessagesReorderedAction,
  SessionReadyAction,
  SessionReasoningAction,
  SessionResponsePartAction,
  SessionServerToolsChangedAction,
  SessionTitleChangedAction,
  SessionTruncatedAction,
  SessionTurnCancelledAction,
  SessionTurnCompleteAction,
  SessionTurnStartedAction,
  SessionUsageAction,
} from './session/actions.js';
export type {
  CompletionItem,
  CompletionsParams,
  CompletionsResult,
  CreateSessionParams,
  CreateSessionResult,
  DisposeSessionParams,
  DisposeSessionResult,
  FetchTurnsParams,
  FetchTurnsResult,
  SessionForkSource,
  SystemMessageSectionContent,
  SystemMessageTransformParams,
  SystemMessageTransformResult,
} from './session/commands.js';
export type {
  AgentCustomization,
  ChildCustomization,
  ChildCustomizationType,
  ClientPluginCustomization,
  Customization,
  CustomizationDegradedState,
  CustomizationErrorState,
  CustomizationLoadedState,
  CustomizationLoadingState,
  CustomizationLoadState,
  DirectoryCustomization,
  HookCustomization,
  McpServerCustomization,
  PluginCustomization,
  PromptCustomization,
  RuleCustomization,
  SkillCustomization,
} from './session/customizations.js';
export type {
  SessionInputAnswer,
  SessionInputAnswered,
  SessionInputAnswerValue,
  SessionInputBooleanAnswerValue,
  SessionInputBooleanQuestion,
  SessionInputMultiSelectQuestion,
  SessionInputNumberAnswerValue,
  SessionInputNumberQuestion,
  SessionInputOption,
  SessionInputQuestion,
  SessionInputRequest,
  SessionInputResponseKind,
  SessionInputSelectedAnswerValue,
  SessionInputSelectedManyAnswerValue,
  SessionInputSingleSelectQuestion,
  SessionInputSkipped,
  SessionInputTextAnswerValue,
  SessionInputTextQuestion,
} from './session/input.js';
export type {
  MessageAttachment,
  MessageEmbeddedResourceAttachment,
  MessageResourceAttachment,
  PendingMessage,
  PendingMessageKind,
  SimpleMessageAttachment,
  UserMessage,
} from './session/messages.js';
export { type ProjectOfWorktree, projectLabel } from './session/project-label.js';
export { sessionReducer } from './session/reducer.js';
export type {
  ProjectInfo,
  SessionActiveClient,
  SessionConfigPropertySchema,
  SessionConfigSchema,
  SessionConfigState,
  SessionLifecycle,
  SessionState,
  SessionSummary,
  SystemMessageTransformOptIn,
} from './session/state.js';
export { ACTIVITY_MASK, SessionStatus } from './session/status.js';
export { type SteeringPart, steeringIn, steeringPart } from './session/steering.js';
export type {
  SessionToolCallApprovedAction,
  SessionToolCallCompleteAction,
  SessionToolCallConfirmedAction,
  SessionToolCallContentChangedAction,
  SessionToolCallDeltaAction,
  SessionToolCallDeniedAction,
  SessionToolCallReadyAction,
  SessionToolCallResultConfirmedAction,
  SessionToolCallStartAction,
} from './session/tool-call-actions.js';
export type {
  ConfirmationOption,
  FileEditList,
  ToolAnnotations,
  ToolCallCancellationReason,
  ToolCallCancelledState,
  ToolCallCompletedState,
  ToolCallConfirmationReason,
  ToolCallError,
  ToolCallPendingConfirmationState,
  ToolCallPendingResultConfirmationState,
  ToolCallResponsePart,
  ToolCallResult,
  ToolCallRunningState,
  ToolCallState,
  ToolCallStreamingState,
  ToolDefinition,
  ToolResultContent,
  ToolResultEmbeddedResourceContent,
  ToolResultFileEditContent,
  ToolResultResourceContent,
  ToolResultSubagentContent,
  ToolResultTerminalContent,
  ToolResultTextContent,
  ToolSchema,
} from './session/tool-calls.js';
export type {
  ActiveTurn,
  MarkdownResponsePart,
  ReasoningResponsePart,
  ResourceResponsePart,
  ResponsePart,
  SystemNotificationResponsePart,
  Turn,
  TurnState,
} from './session/turns.js';
export type {
  TerminalAction,
  TerminalActionMap,
  TerminalActionType,
  TerminalClaimedAction,
  TerminalClearedAction,
  TerminalCommandDetectionAvailableAction,
  TerminalCommandExecutedAction,
  TerminalCommandFinishedAction,
  TerminalCwdChangedAction,
  TerminalDataAction,
  TerminalExitedAction,
  TerminalInputAction,
  TerminalResizedAction,
  TerminalTitleChangedAction,
} from './terminal/actions.js';
export type {
  CreateTerminalParams,
  CreateTerminalResult,
  DisposeTerminalParams,
  DisposeTerminalResult,
} from './terminal/commands.js';
export { terminalReducer } from './terminal/reducer.js';
export type {
  TerminalClaim,
  TerminalClientClaim,
  TerminalCommandPart,
  TerminalContentPart,
  TerminalInfo,
  TerminalSessionClaim,
  TerminalState,
  TerminalUnclassifiedPart,
} from './terminal/state.js';
export {
  ACTION_INTRODUCED_IN,
  isActionKnown,
  isNotificationKnown,
  isServerCommandKnown,
  NOTIFICATION_INTRODUCED_IN,
  SERVER_COMMAND_INTRODUCED_IN,
} from './versions/introduced-in.js';
export {
  AHP_0_3_FINGERPRINT,
  AHP_0_3_VERSION,
} from './versions/versions.js';
