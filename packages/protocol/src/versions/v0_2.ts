/** Frozen: the wire as this version has it. Never edited; `compat.ts` holds the living types against it. */

export interface V0_2 {
  states: {
    root: RootState;
    session: SessionState;
    terminal: TerminalState;
    changeset: ChangesetState;
    resourceWatch: ResourceWatchState;
  };
  actions: {
    'root/agentsChanged': RootAgentsChangedAction;
    'root/activeSessionsChanged': RootActiveSessionsChangedAction;
    'root/terminalsChanged': RootTerminalsChangedAction;
    'root/configChanged': RootConfigChangedAction;
    'session/ready': SessionReadyAction;
    'session/creationFailed': SessionCreationFailedAction;
    'session/turnStarted': SessionTurnStartedAction;
    'session/delta': SessionDeltaAction;
    'session/responsePart': SessionResponsePartAction;
    'session/toolCallStart': SessionToolCallStartAction;
    'session/toolCallDelta': SessionToolCallDeltaAction;
    'session/toolCallReady': SessionToolCallReadyAction;
    'session/toolCallConfirmed': SessionToolCallConfirmedAction;
    'session/toolCallComplete': SessionToolCallCompleteAction;
    'session/toolCallResultConfirmed': SessionToolCallResultConfirmedAction;
    'session/toolCallContentChanged': SessionToolCallContentChangedAction;
    'session/turnComplete': SessionTurnCompleteAction;
    'session/turnCancelled': SessionTurnCancelledAction;
    'session/error': SessionErrorAction;
    'session/titleChanged': SessionTitleChangedAction;
    'session/usage': SessionUsageAction;
    'session/reasoning': SessionReasoningAction;
    'session/modelChanged': SessionModelChangedAction;
    'session/agentChanged': SessionAgentChangedAction;
    'session/serverToolsChanged': SessionServerToolsChangedAction;
    'session/activeClientChanged': SessionActiveClientChangedAction;
    'session/activeClientToolsChanged': SessionActiveClientToolsChangedAction;
    'session/pendingMessageSet': SessionPendingMessageSetAction;
    'session/pendingMessageRemoved': SessionPendingMessageRemovedAction;
    'session/queuedMessagesReordered': SessionQueuedMessagesReorderedAction;
    'session/inputRequested': SessionInputRequestedAction;
    'session/inputAnswerChanged': SessionInputAnswerChangedAction;
    'session/inputCompleted': SessionInputCompletedAction;
    'session/customizationsChanged': SessionCustomizationsChangedAction;
    'session/customizationToggled': SessionCustomizationToggledAction;
    'session/customizationUpdated': SessionCustomizationUpdatedAction;
    'session/customizationRemoved': SessionCustomizationRemovedAction;
    'session/truncated': SessionTruncatedAction;
    'session/isReadChanged': SessionIsReadChangedAction;
    'session/isArchivedChanged': SessionIsArchivedChangedAction;
    'session/activityChanged': SessionActivityChangedAction;
    'session/changesetsChanged': SessionChangesetsChangedAction;
    'session/configChanged': SessionConfigChangedAction;
    'session/metaChanged': SessionMetaChangedAction;
    'changeset/statusChanged': ChangesetStatusChangedAction;
    'changeset/fileSet': ChangesetFileSetAction;
    'changeset/fileRemoved': ChangesetFileRemovedAction;
    'changeset/operationsChanged': ChangesetOperationsChangedAction;
    'changeset/cleared': ChangesetClearedAction;
    'terminal/data': TerminalDataAction;
    'terminal/input': TerminalInputAction;
    'terminal/resized': TerminalResizedAction;
    'terminal/claimed': TerminalClaimedAction;
    'terminal/titleChanged': TerminalTitleChangedAction;
    'terminal/cwdChanged': TerminalCwdChangedAction;
    'terminal/exited': TerminalExitedAction;
    'terminal/cleared': TerminalClearedAction;
    'terminal/commandDetectionAvailable': TerminalCommandDetectionAvailableAction;
    'terminal/commandExecuted': TerminalCommandExecutedAction;
    'terminal/commandFinished': TerminalCommandFinishedAction;
    'resourceWatch/changed': ResourceWatchChangedAction;
  };
  clientRequests: {
    initialize: { params: InitializeParams; result: InitializeResult };
    ping: { params: PingParams; result: PingResult };
    reconnect: { params: ReconnectParams; result: ReconnectResult };
    subscribe: { params: SubscribeParams; result: SubscribeResult };
    createSession: { params: CreateSessionParams; result: CreateSessionResult };
    disposeSession: { params: DisposeSessionParams; result: DisposeSessionResult };
    createTerminal: { params: CreateTerminalParams; result: CreateTerminalResult };
    disposeTerminal: { params: DisposeTerminalParams; result: DisposeTerminalResult };
    listSessions: { params: ListSessionsParams; result: ListSessionsResult };
    resourceRead: { params: ResourceReadParams; result: ResourceReadResult };
    resourceWrite: { params: ResourceWriteParams; result: ResourceWriteResult };
    resourceList: { params: ResourceListParams; result: ResourceListResult };
    resourceCopy: { params: ResourceCopyParams; result: ResourceCopyResult };
    resourceDelete: { params: ResourceDeleteParams; result: ResourceDeleteResult };
    resourceMove: { params: ResourceMoveParams; result: ResourceMoveResult };
    resourceResolve: { params: ResourceResolveParams; result: ResourceResolveResult };
    resourceMkdir: { params: ResourceMkdirParams; result: ResourceMkdirResult };
    resourceRequest: { params: ResourceRequestParams; result: ResourceRequestResult };
    createResourceWatch: { params: CreateResourceWatchParams; result: CreateResourceWatchResult };
    fetchTurns: { params: FetchTurnsParams; result: FetchTurnsResult };
    authenticate: { params: AuthenticateParams; result: AuthenticateResult };
    resolveSessionConfig: { params: ResolveSessionConfigParams; result: ResolveSessionConfigResult };
    sessionConfigCompletions: { params: SessionConfigCompletionsParams; result: SessionConfigCompletionsResult };
    completions: { params: CompletionsParams; result: CompletionsResult };
    invokeChangesetOperation: { params: InvokeChangesetOperationParams; result: InvokeChangesetOperationResult };
  };
  hostRequests: {
    resourceRead: { params: ResourceReadParams; result: ResourceReadResult };
    resourceWrite: { params: ResourceWriteParams; result: ResourceWriteResult };
    resourceList: { params: ResourceListParams; result: ResourceListResult };
    resourceCopy: { params: ResourceCopyParams; result: ResourceCopyResult };
    resourceDelete: { params: ResourceDeleteParams; result: ResourceDeleteResult };
    resourceMove: { params: ResourceMoveParams; result: ResourceMoveResult };
    resourceResolve: { params: ResourceResolveParams; result: ResourceResolveResult };
    resourceMkdir: { params: ResourceMkdirParams; result: ResourceMkdirResult };
    resourceRequest: { params: ResourceRequestParams; result: ResourceRequestResult };
    createResourceWatch: { params: CreateResourceWatchParams; result: CreateResourceWatchResult };
  };
  clientNotifications: {
    unsubscribe: UnsubscribeParams;
    dispatchAction: DispatchActionParams;
  };
  hostNotifications: {
    action: ActionEnvelope;
    'root/sessionAdded': SessionAddedParams;
    'root/sessionRemoved': SessionRemovedParams;
    'root/sessionSummaryChanged': SessionSummaryChangedParams;
    'auth/required': AuthRequiredParams;
    'otlp/exportLogs': OtlpExportLogsParams;
    'otlp/exportTraces': OtlpExportTracesParams;
    'otlp/exportMetrics': OtlpExportMetricsParams;
  };
  errorData: {
    UnsupportedProtocolVersion: UnsupportedProtocolVersionErrorData;
    AuthRequired: AuthRequiredErrorData;
    PermissionDenied: PermissionDeniedErrorData;
  };
}

export type ActionEnvelope = {
  channel: URI;
  action: StateAction;
  serverSeq: Seq;
  origin?: ActionOrigin;
  rejectionReason?: string;
};

export type ActionOrigin = { clientId: string; clientSeq: Seq };

export type ActiveTurn = {
  id: string;
  userMessage: UserMessage;
  responseParts: Array<ResponsePart>;
  usage?: UsageInfo;
};

export type AgentCustomization = {
  type: 'agent';
  id: string;
  uri: URI;
  name: string;
  icons?: Array<Icon>;
  range?: TextRange;
  description?: string;
};

export type AgentInfo = {
  provider: string;
  displayName: string;
  description: string;
  models: Array<SessionModelInfo>;
  protectedResources?: Array<ProtectedResourceMetadata>;
  customizations?: Array<Customization>;
};

export type AgentSelection = { uri: URI };

export type AuthRequiredErrorData = { resources: Array<ProtectedResourceMetadata> };

export type AuthRequiredParams = { channel: URI; resource: string; reason?: 'required' | 'expired' };

export type AuthenticateParams = { channel: RootChannel; resource: string; token: string };

export type AuthenticateResult = {};

export type ChangesetClearedAction = { type: 'changeset/cleared' };

export type ChangesetFile = { id: string; edit: FileEdit; _meta?: Meta };

export type ChangesetFileRemovedAction = { type: 'changeset/fileRemoved'; fileId: string };

export type ChangesetFileSetAction = { type: 'changeset/fileSet'; file: ChangesetFile };

export type ChangesetOperation = {
  id: string;
  label: string;
  description?: string;
  scopes: Array<ChangesetOperationScope>;
  confirmation?: StringOrMarkdown;
  icon?: string;
};

export type ChangesetOperationFollowUp = { content: ContentRef; external?: boolean };

export type ChangesetOperationRangeTarget = {
  kind: 'range';
  resource: URI;
  side?: 'before' | 'after';
  range: TextRange;
};

export type ChangesetOperationResourceTarget = { kind: 'resource'; resource: URI; side?: 'before' | 'after' };

export type ChangesetOperationScope = 'changeset' | 'resource' | 'range';

export type ChangesetOperationTarget = ChangesetOperationResourceTarget | ChangesetOperationRangeTarget;

export type ChangesetOperationsChangedAction = {
  type: 'changeset/operationsChanged';
  operations?: Array<ChangesetOperation>;
};

export type ChangesetState = {
  status: ChangesetStatus;
  error?: ErrorInfo;
  files: Array<ChangesetFile>;
  operations?: Array<ChangesetOperation>;
};

export type ChangesetStatus = 'computing' | 'ready' | 'error';

export type ChangesetStatusChangedAction = {
  type: 'changeset/statusChanged';
  status: ChangesetStatus;
  error?: ErrorInfo;
};

export type ChangesetSummary = {
  label: string;
  uriTemplate: string;
  description?: string;
  additions?: number;
  deletions?: number;
  files?: number;
};

export type ChildCustomization =
  | AgentCustomization
  | SkillCustomization
  | PromptCustomization
  | RuleCustomization
  | HookCustomization
  | McpServerCustomization;

export type ChildCustomizationType = 'agent' | 'skill' | 'prompt' | 'rule' | 'hook' | 'mcpServer';

export type ClientPluginCustomization = {
  type: 'plugin';
  id: string;
  uri: URI;
  name: string;
  icons?: Array<Icon>;
  range?: TextRange;
  enabled: boolean;
  clientId?: string;
  load?: CustomizationLoadState;
  children?: Array<ChildCustomization>;
  nonce?: string;
};

export type CompletionItem = {
  insertText: string;
  rangeStart?: number;
  rangeEnd?: number;
  attachment: MessageAttachment;
};

export type CompletionsParams = { channel: URI; kind: 'userMessage'; text: string; offset: number };

export type CompletionsResult = { items: Array<CompletionItem> };

export type ConfigPropertySchema = {
  type: 'string' | 'number' | 'boolean' | 'array' | 'object';
  title: string;
  description?: string;
  default?: unknown;
  enum?: Array<string>;
  enumLabels?: Array<string>;
  enumDescriptions?: Array<string>;
  readOnly?: boolean;
  items?: ConfigPropertySchema;
  properties?: Record<string, ConfigPropertySchema>;
  required?: Array<string>;
};

export type ConfigSchema = {
  type: 'object';
  properties: Record<string, ConfigPropertySchema>;
  required?: Array<string>;
};

export type ConfirmationOption = { id: string; label: string; kind: 'approve' | 'deny'; group?: number };

export type ContentEncoding = 'base64' | 'utf-8';

export type ContentRef = { uri: URI; sizeHint?: number; contentType?: string };

export type CreateResourceWatchParams = {
  channel: RootChannel;
  uri: URI;
  recursive?: boolean;
  excludes?: WatchFilter;
  includes?: WatchFilter;
};

export type CreateResourceWatchResult = { channel: URI };

export type CreateSessionParams = {
  channel: URI;
  provider?: string;
  model?: ModelSelection;
  agent?: AgentSelection;
  workingDirectory?: URI;
  fork?: SessionForkSource;
  config?: Record<string, unknown>;
  activeClient?: SessionActiveClient;
};

export type CreateSessionResult = null;

export type CreateTerminalParams = {
  channel: URI;
  claim: TerminalClaim;
  name?: string;
  cwd?: URI;
  cols?: number;
  rows?: number;
};

export type CreateTerminalResult = null;

export type Customization = PluginCustomization | DirectoryCustomization;

export type CustomizationDegradedState = { kind: 'degraded'; message: string };

export type CustomizationErrorState = { kind: 'error'; message: string };

export type CustomizationLoadState =
  | CustomizationLoadingState
  | CustomizationLoadedState
  | CustomizationDegradedState
  | CustomizationErrorState;

export type CustomizationLoadedState = { kind: 'loaded' };

export type CustomizationLoadingState = { kind: 'loading' };

export type DirectoryCustomization = {
  type: 'directory';
  id: string;
  uri: URI;
  name: string;
  icons?: Array<Icon>;
  range?: TextRange;
  enabled: boolean;
  clientId?: string;
  load?: CustomizationLoadState;
  children?: Array<ChildCustomization>;
  contents: ChildCustomizationType;
  writable: boolean;
};

export type DirectoryEntry = { name: string; type: 'file' | 'directory' };

export type DispatchActionParams = { channel: URI; clientSeq: Seq; action: StateAction };

export type DisposeSessionParams = { channel: URI };

export type DisposeSessionResult = null;

export type DisposeTerminalParams = { channel: URI };

export type DisposeTerminalResult = null;

export type ErrorInfo = { errorType: string; message: string; stack?: string };

export type FetchTurnsParams = { channel: URI; before?: string; limit?: number };

export type FetchTurnsResult = { turns: Array<Turn>; hasMore: boolean };

export type FileEdit = { before?: FileEditSide; after?: FileEditSide; diff?: FileEditDiff };

export type FileEditDiff = { added?: number; removed?: number };

export type FileEditList = { items: Array<FileEdit> };

export type FileEditSide = { uri: URI; content: ContentRef };

export type HookCustomization = {
  type: 'hook';
  id: string;
  uri: URI;
  name: string;
  icons?: Array<Icon>;
  range?: TextRange;
};

export type Icon = { src: URI; contentType?: string; sizes?: Array<string>; theme?: 'light' | 'dark' };

export type InitializeParams = {
  channel: RootChannel;
  protocolVersions: Array<string>;
  clientId: string;
  initialSubscriptions?: Array<URI>;
  locale?: string;
};

export type InitializeResult = {
  protocolVersion: string;
  serverSeq: Seq;
  snapshots: Array<Snapshot>;
  defaultDirectory?: URI;
  completionTriggerCharacters?: Array<string>;
  telemetry?: TelemetryCapabilities;
};

export type InvokeChangesetOperationParams = { channel: URI; operationId: string; target?: ChangesetOperationTarget };

export type InvokeChangesetOperationResult = { message?: StringOrMarkdown; followUp?: ChangesetOperationFollowUp };

export type ListSessionsParams = { channel: RootChannel; filter?: Record<string, unknown> };

export type ListSessionsResult = { items: Array<SessionSummary> };

export type MarkdownResponsePart = { kind: 'markdown'; id: string; content: string };

export type McpServerCustomization = {
  type: 'mcpServer';
  id: string;
  uri: URI;
  name: string;
  icons?: Array<Icon>;
  range?: TextRange;
};

export type MessageAttachment = SimpleMessageAttachment | MessageEmbeddedResourceAttachment | MessageResourceAttachment;

export type MessageEmbeddedResourceAttachment = {
  type: 'embeddedResource';
  label: string;
  range?: TextRange;
  displayKind?: string;
  _meta?: Meta;
  data: string;
  contentType: string;
  selection?: TextSelection;
};

export type MessageResourceAttachment = {
  type: 'resource';
  label: string;
  range?: TextRange;
  displayKind?: string;
  _meta?: Meta;
  uri: URI;
  sizeHint?: number;
  contentType?: string;
  selection?: TextSelection;
};

export type Meta = Record<string, unknown>;

export type ModelSelection = { id: string; config?: Record<string, string> };

export type OtlpExportLogsParams = { channel: URI; payload: { resourceLogs: Array<unknown> } };

export type OtlpExportMetricsParams = { channel: URI; payload: { resourceMetrics: Array<unknown> } };

export type OtlpExportTracesParams = { channel: URI; payload: { resourceSpans: Array<unknown> } };

export type PendingMessage = { id: string; userMessage: UserMessage };

export type PendingMessageKind = 'steering' | 'queued';

export type PermissionDeniedErrorData = { request?: ResourceRequestParams };

export type PingParams = { channel: RootChannel };

export type PingResult = null;

export type PluginCustomization = {
  type: 'plugin';
  id: string;
  uri: URI;
  name: string;
  icons?: Array<Icon>;
  range?: TextRange;
  enabled: boolean;
  clientId?: string;
  load?: CustomizationLoadState;
  children?: Array<ChildCustomization>;
};

export type PolicyState = 'enabled' | 'disabled' | 'unconfigured';

export type ProjectInfo = { uri: URI; displayName: string };

export type PromptCustomization = {
  type: 'prompt';
  id: string;
  uri: URI;
  name: string;
  icons?: Array<Icon>;
  range?: TextRange;
  description?: string;
};

export type ProtectedResourceMetadata = {
  resource: string;
  resource_name?: string;
  authorization_servers?: Array<string>;
  jwks_uri?: string;
  scopes_supported?: Array<string>;
  bearer_methods_supported?: Array<string>;
  resource_signing_alg_values_supported?: Array<string>;
  resource_encryption_alg_values_supported?: Array<string>;
  resource_encryption_enc_values_supported?: Array<string>;
  resource_documentation?: string;
  resource_policy_uri?: string;
  resource_tos_uri?: string;
  required?: boolean;
};

export type ReasoningResponsePart = { kind: 'reasoning'; id: string; content: string };

export type ReconnectParams = {
  channel: RootChannel;
  clientId: string;
  lastSeenServerSeq: Seq;
  subscriptions: Array<URI>;
};

export type ReconnectReplayResult = { type: 'replay'; actions: Array<ActionEnvelope>; missing: Array<URI> };

export type ReconnectResult = ReconnectReplayResult | ReconnectSnapshotResult;

export type ReconnectSnapshotResult = { type: 'snapshot'; snapshots: Array<Snapshot> };

export type ResolveSessionConfigParams = {
  channel: RootChannel;
  provider?: string;
  workingDirectory?: URI;
  config?: Record<string, unknown>;
};

export type ResolveSessionConfigResult = { schema: SessionConfigSchema; values: Record<string, unknown> };

export type ResourceChange = { uri: URI; type: ResourceChangeType };

export type ResourceChangeList = { items: Array<ResourceChange> };

export type ResourceChangeType = 'added' | 'updated' | 'deleted';

export type ResourceCopyParams = { channel: RootChannel; source: URI; destination: URI; failIfExists?: boolean };

export type ResourceCopyResult = {};

export type ResourceDeleteParams = { channel: RootChannel; uri: URI; recursive?: boolean };

export type ResourceDeleteResult = {};

export type ResourceListParams = { channel: RootChannel; uri: URI };

export type ResourceListResult = { entries: Array<DirectoryEntry> };

export type ResourceMkdirParams = { channel: RootChannel; uri: URI };

export type ResourceMkdirResult = {};

export type ResourceMoveParams = { channel: RootChannel; source: URI; destination: URI; failIfExists?: boolean };

export type ResourceMoveResult = {};

export type ResourceReadParams = { channel: RootChannel; uri: URI; encoding?: ContentEncoding };

export type ResourceReadResult = { data: string; encoding: ContentEncoding; contentType?: string };

export type ResourceRequestParams = { channel: RootChannel; uri: URI; read?: boolean; write?: boolean };

export type ResourceRequestResult = {};

export type ResourceResolveParams = { channel: RootChannel; uri: URI; followSymlinks?: boolean };

export type ResourceResolveResult = {
  uri: URI;
  type: ResourceType;
  size?: number;
  mtime?: string;
  ctime?: string;
  contentType?: string;
  etag?: string;
};

export type ResourceResponsePart = { kind: 'contentRef'; uri: URI; sizeHint?: number; contentType?: string };

export type ResourceType = 'file' | 'directory' | 'symlink';

export type ResourceWatchChangedAction = { type: 'resourceWatch/changed'; changes: ResourceChangeList };

export type ResourceWatchState = { root: URI; recursive: boolean; excludes?: WatchFilter; includes?: WatchFilter };

export type ResourceWriteMode = 'truncate' | 'append' | 'insert';

export type ResourceWriteParams = {
  channel: RootChannel;
  uri: URI;
  data: string;
  encoding: ContentEncoding;
  contentType?: string;
  createOnly?: boolean;
  mode?: ResourceWriteMode;
  position?: number;
  ifMatch?: string;
};

export type ResourceWriteResult = {};

export type ResponsePart =
  | MarkdownResponsePart
  | ReasoningResponsePart
  | ResourceResponsePart
  | ToolCallResponsePart
  | SystemNotificationResponsePart;

export type RootActiveSessionsChangedAction = { type: 'root/activeSessionsChanged'; activeSessions: number };

export type RootAgentsChangedAction = { type: 'root/agentsChanged'; agents: Array<AgentInfo> };

export type RootChannel = 'ahp-root://';

export type RootConfigChangedAction = {
  type: 'root/configChanged';
  config: Record<string, unknown>;
  replace?: boolean;
};

export type RootConfigState = { schema: ConfigSchema; values: Record<string, unknown> };

export type RootState = {
  agents: Array<AgentInfo>;
  activeSessions?: number;
  terminals?: Array<TerminalInfo>;
  config?: RootConfigState;
};

export type RootTerminalsChangedAction = { type: 'root/terminalsChanged'; terminals: Array<TerminalInfo> };

export type RuleCustomization = {
  type: 'rule';
  id: string;
  uri: URI;
  name: string;
  icons?: Array<Icon>;
  range?: TextRange;
  description?: string;
  alwaysApply?: boolean;
  globs?: Array<string>;
};

export type Seq = number;

export type SessionActiveClient = {
  clientId: string;
  displayName?: string;
  tools: Array<ToolDefinition>;
  customizations?: Array<ClientPluginCustomization>;
};

export type SessionActiveClientChangedAction = {
  type: 'session/activeClientChanged';
  activeClient?: SessionActiveClient | null;
};

export type SessionActiveClientToolsChangedAction = {
  type: 'session/activeClientToolsChanged';
  tools: Array<ToolDefinition>;
};

export type SessionActivityChangedAction = { type: 'session/activityChanged'; activity?: string };

export type SessionAddedParams = { channel: RootChannel; summary: SessionSummary };

export type SessionAgentChangedAction = { type: 'session/agentChanged'; agent?: AgentSelection };

export type SessionChangesetsChangedAction = {
  type: 'session/changesetsChanged';
  changesets?: Array<ChangesetSummary>;
};

export type SessionConfigChangedAction = {
  type: 'session/configChanged';
  config: Record<string, unknown>;
  replace?: boolean;
};

export type SessionConfigCompletionsParams = {
  channel: RootChannel;
  provider?: string;
  workingDirectory?: URI;
  config?: Record<string, unknown>;
  property: string;
  query?: string;
};

export type SessionConfigCompletionsResult = { items: Array<SessionConfigValueItem> };

export type SessionConfigPropertySchema = {
  type: 'string' | 'number' | 'boolean' | 'array' | 'object';
  title: string;
  description?: string;
  default?: unknown;
  enum?: Array<string>;
  enumLabels?: Array<string>;
  enumDescriptions?: Array<string>;
  readOnly?: boolean;
  items?: ConfigPropertySchema;
  properties?: Record<string, ConfigPropertySchema>;
  required?: Array<string>;
  enumDynamic?: boolean;
  sessionMutable?: boolean;
};

export type SessionConfigSchema = {
  type: 'object';
  properties: Record<string, SessionConfigPropertySchema>;
  required?: Array<string>;
};

export type SessionConfigState = { schema: SessionConfigSchema; values: Record<string, unknown> };

export type SessionConfigValueItem = { value: string; label: string; description?: string };

export type SessionCreationFailedAction = { type: 'session/creationFailed'; error: ErrorInfo };

export type SessionCustomizationRemovedAction = { type: 'session/customizationRemoved'; id: string };

export type SessionCustomizationToggledAction = { type: 'session/customizationToggled'; id: string; enabled: boolean };

export type SessionCustomizationUpdatedAction = { type: 'session/customizationUpdated'; customization: Customization };

export type SessionCustomizationsChangedAction = {
  type: 'session/customizationsChanged';
  customizations: Array<Customization>;
};

export type SessionDeltaAction = { type: 'session/delta'; turnId: string; partId: string; content: string };

export type SessionErrorAction = { type: 'session/error'; turnId: string; error: ErrorInfo };

export type SessionForkSource = { session: URI; turnId: string };

export type SessionInputAnswer = SessionInputAnswered | SessionInputSkipped;

export type SessionInputAnswerChangedAction = {
  type: 'session/inputAnswerChanged';
  requestId: string;
  questionId: string;
  answer?: SessionInputAnswer;
};

export type SessionInputAnswerValue =
  | SessionInputTextAnswerValue
  | SessionInputNumberAnswerValue
  | SessionInputBooleanAnswerValue
  | SessionInputSelectedAnswerValue
  | SessionInputSelectedManyAnswerValue;

export type SessionInputAnswered = { state: 'draft' | 'submitted'; value: SessionInputAnswerValue };

export type SessionInputBooleanAnswerValue = { kind: 'boolean'; value: boolean };

export type SessionInputBooleanQuestion = {
  kind: 'boolean';
  id: string;
  title?: string;
  message: string;
  required?: boolean;
  defaultValue?: boolean;
};

export type SessionInputCompletedAction = {
  type: 'session/inputCompleted';
  requestId: string;
  response: SessionInputResponseKind;
  answers?: Record<string, SessionInputAnswer>;
};

export type SessionInputMultiSelectQuestion = {
  kind: 'multi-select';
  id: string;
  title?: string;
  message: string;
  required?: boolean;
  options: Array<SessionInputOption>;
  allowFreeformInput?: boolean;
  min?: number;
  max?: number;
};

export type SessionInputNumberAnswerValue = { kind: 'number'; value: number };

export type SessionInputNumberQuestion = {
  kind: 'number' | 'integer';
  id: string;
  title?: string;
  message: string;
  required?: boolean;
  min?: number;
  max?: number;
  defaultValue?: number;
};

export type SessionInputOption = { id: string; label: string; description?: string; recommended?: boolean };

export type SessionInputQuestion =
  | SessionInputTextQuestion
  | SessionInputNumberQuestion
  | SessionInputBooleanQuestion
  | SessionInputSingleSelectQuestion
  | SessionInputMultiSelectQuestion;

export type SessionInputRequest = {
  id: string;
  message?: string;
  url?: URI;
  questions?: Array<SessionInputQuestion>;
  answers?: Record<string, SessionInputAnswer>;
};

export type SessionInputRequestedAction = { type: 'session/inputRequested'; request: SessionInputRequest };

export type SessionInputResponseKind = 'accept' | 'decline' | 'cancel';

export type SessionInputSelectedAnswerValue = { kind: 'selected'; value: string; freeformValues?: Array<string> };

export type SessionInputSelectedManyAnswerValue = {
  kind: 'selected-many';
  value: Array<string>;
  freeformValues?: Array<string>;
};

export type SessionInputSingleSelectQuestion = {
  kind: 'single-select';
  id: string;
  title?: string;
  message: string;
  required?: boolean;
  options: Array<SessionInputOption>;
  allowFreeformInput?: boolean;
};

export type SessionInputSkipped = { state: 'skipped'; freeformValues?: Array<string> };

export type SessionInputTextAnswerValue = { kind: 'text'; value: string };

export type SessionInputTextQuestion = {
  kind: 'text';
  id: string;
  title?: string;
  message: string;
  required?: boolean;
  format?: string;
  min?: number;
  max?: number;
  defaultValue?: string;
};

export type SessionIsArchivedChangedAction = { type: 'session/isArchivedChanged'; isArchived: boolean };

export type SessionIsReadChangedAction = { type: 'session/isReadChanged'; isRead: boolean };

export type SessionLifecycle = 'creating' | 'ready' | 'creationFailed';

export type SessionMetaChangedAction = { type: 'session/metaChanged'; _meta?: Meta };

export type SessionModelChangedAction = { type: 'session/modelChanged'; model: ModelSelection };

export type SessionModelInfo = {
  id: string;
  provider: string;
  name: string;
  maxContextWindow?: number;
  supportsVision?: boolean;
  policyState?: PolicyState;
  configSchema?: ConfigSchema;
  _meta?: Meta;
};

export type SessionPendingMessageRemovedAction = {
  type: 'session/pendingMessageRemoved';
  kind: PendingMessageKind;
  id: string;
};

export type SessionPendingMessageSetAction = {
  type: 'session/pendingMessageSet';
  kind: PendingMessageKind;
  id: string;
  userMessage: UserMessage;
};

export type SessionQueuedMessagesReorderedAction = { type: 'session/queuedMessagesReordered'; order: Array<string> };

export type SessionReadyAction = { type: 'session/ready' };

export type SessionReasoningAction = { type: 'session/reasoning'; turnId: string; partId: string; content: string };

export type SessionRemovedParams = { channel: RootChannel; session: URI };

export type SessionResponsePartAction = { type: 'session/responsePart'; turnId: string; part: ResponsePart };

export type SessionServerToolsChangedAction = { type: 'session/serverToolsChanged'; tools: Array<ToolDefinition> };

export type SessionState = {
  summary: SessionSummary;
  lifecycle: SessionLifecycle;
  creationError?: ErrorInfo;
  serverTools?: Array<ToolDefinition>;
  activeClient?: SessionActiveClient;
  turns: Array<Turn>;
  activeTurn?: ActiveTurn;
  steeringMessage?: PendingMessage;
  queuedMessages?: Array<PendingMessage>;
  inputRequests?: Array<SessionInputRequest>;
  config?: SessionConfigState;
  customizations?: Array<Customization>;
  _meta?: Meta;
};

export type SessionSummary = {
  resource: URI;
  provider: string;
  title: string;
  status: number;
  activity?: string;
  createdAt: number;
  modifiedAt: number;
  project?: ProjectInfo;
  model?: ModelSelection;
  agent?: AgentSelection;
  workingDirectory?: URI;
  changesets?: Array<ChangesetSummary>;
};

export type SessionSummaryChangedParams = { channel: RootChannel; session: URI; changes: SessionSummaryChanges };

export type SessionSummaryChanges = {
  title?: string;
  status?: number;
  activity?: string | null;
  modifiedAt?: number;
  project?: ProjectInfo | null;
  model?: ModelSelection | null;
  agent?: AgentSelection | null;
  workingDirectory?: URI | null;
  changesets?: Array<ChangesetSummary> | null;
};

export type SessionTitleChangedAction = { type: 'session/titleChanged'; title: string };

export type SessionToolCallApprovedAction = {
  type: 'session/toolCallConfirmed';
  turnId: string;
  toolCallId: string;
  _meta?: Meta;
  approved: true;
  confirmed: ToolCallConfirmationReason;
  editedToolInput?: string;
  selectedOptionId?: string;
};

export type SessionToolCallCompleteAction = {
  type: 'session/toolCallComplete';
  turnId: string;
  toolCallId: string;
  _meta?: Meta;
  result: ToolCallResult;
  requiresResultConfirmation?: boolean;
};

export type SessionToolCallConfirmedAction = SessionToolCallApprovedAction | SessionToolCallDeniedAction;

export type SessionToolCallContentChangedAction = {
  type: 'session/toolCallContentChanged';
  turnId: string;
  toolCallId: string;
  _meta?: Meta;
  content: Array<ToolResultContent>;
};

export type SessionToolCallDeltaAction = {
  type: 'session/toolCallDelta';
  turnId: string;
  toolCallId: string;
  _meta?: Meta;
  content: string;
  invocationMessage?: StringOrMarkdown;
};

export type SessionToolCallDeniedAction = {
  type: 'session/toolCallConfirmed';
  turnId: string;
  toolCallId: string;
  _meta?: Meta;
  approved: false;
  reason: 'denied' | 'skipped';
  userSuggestion?: UserMessage;
  reasonMessage?: StringOrMarkdown;
  selectedOptionId?: string;
};

export type SessionToolCallReadyAction = {
  type: 'session/toolCallReady';
  turnId: string;
  toolCallId: string;
  _meta?: Meta;
  invocationMessage: StringOrMarkdown;
  toolInput?: string;
  confirmationTitle?: StringOrMarkdown;
  edits?: FileEditList;
  editable?: boolean;
  confirmed?: ToolCallConfirmationReason;
  options?: Array<ConfirmationOption>;
};

export type SessionToolCallResultConfirmedAction = {
  type: 'session/toolCallResultConfirmed';
  turnId: string;
  toolCallId: string;
  _meta?: Meta;
  approved: boolean;
};

export type SessionToolCallStartAction = {
  type: 'session/toolCallStart';
  turnId: string;
  toolCallId: string;
  _meta?: Meta;
  toolName: string;
  displayName: string;
  toolClientId?: string;
};

export type SessionTruncatedAction = { type: 'session/truncated'; turnId?: string };

export type SessionTurnCancelledAction = { type: 'session/turnCancelled'; turnId: string };

export type SessionTurnCompleteAction = { type: 'session/turnComplete'; turnId: string };

export type SessionTurnStartedAction = {
  type: 'session/turnStarted';
  turnId: string;
  userMessage: UserMessage;
  queuedMessageId?: string;
};

export type SessionUsageAction = { type: 'session/usage'; turnId: string; usage: UsageInfo };

export type SimpleMessageAttachment = {
  type: 'simple';
  label: string;
  range?: TextRange;
  displayKind?: string;
  _meta?: Meta;
  modelRepresentation?: string;
};

export type SkillCustomization = {
  type: 'skill';
  id: string;
  uri: URI;
  name: string;
  icons?: Array<Icon>;
  range?: TextRange;
  description?: string;
  disableModelInvocation?: boolean;
};

export type Snapshot = {
  resource: URI;
  state: RootState | SessionState | TerminalState | ChangesetState | ResourceWatchState;
  fromSeq: Seq;
};

export type StateAction =
  | RootAgentsChangedAction
  | RootActiveSessionsChangedAction
  | RootTerminalsChangedAction
  | RootConfigChangedAction
  | SessionReadyAction
  | SessionCreationFailedAction
  | SessionTurnStartedAction
  | SessionDeltaAction
  | SessionResponsePartAction
  | SessionToolCallStartAction
  | SessionToolCallDeltaAction
  | SessionToolCallReadyAction
  | SessionToolCallConfirmedAction
  | SessionToolCallCompleteAction
  | SessionToolCallResultConfirmedAction
  | SessionToolCallContentChangedAction
  | SessionTurnCompleteAction
  | SessionTurnCancelledAction
  | SessionErrorAction
  | SessionTitleChangedAction
  | SessionUsageAction
  | SessionReasoningAction
  | SessionModelChangedAction
  | SessionAgentChangedAction
  | SessionServerToolsChangedAction
  | SessionActiveClientChangedAction
  | SessionActiveClientToolsChangedAction
  | SessionPendingMessageSetAction
  | SessionPendingMessageRemovedAction
  | SessionQueuedMessagesReorderedAction
  | SessionInputRequestedAction
  | SessionInputAnswerChangedAction
  | SessionInputCompletedAction
  | SessionCustomizationsChangedAction
  | SessionCustomizationToggledAction
  | SessionCustomizationUpdatedAction
  | SessionCustomizationRemovedAction
  | SessionTruncatedAction
  | SessionIsReadChangedAction
  | SessionIsArchivedChangedAction
  | SessionActivityChangedAction
  | SessionChangesetsChangedAction
  | SessionConfigChangedAction
  | SessionMetaChangedAction
  | ChangesetStatusChangedAction
  | ChangesetFileSetAction
  | ChangesetFileRemovedAction
  | ChangesetOperationsChangedAction
  | ChangesetClearedAction
  | TerminalDataAction
  | TerminalInputAction
  | TerminalResizedAction
  | TerminalClaimedAction
  | TerminalTitleChangedAction
  | TerminalCwdChangedAction
  | TerminalExitedAction
  | TerminalClearedAction
  | TerminalCommandDetectionAvailableAction
  | TerminalCommandExecutedAction
  | TerminalCommandFinishedAction
  | ResourceWatchChangedAction;

export type StringOrMarkdown = string | { markdown: string };

export type SubscribeParams = { channel: URI };

export type SubscribeResult = { snapshot?: Snapshot };

export type SystemNotificationResponsePart = { kind: 'systemNotification'; content: StringOrMarkdown };

export type TelemetryCapabilities = { logs?: URI; traces?: URI; metrics?: URI };

export type TerminalClaim = TerminalClientClaim | TerminalSessionClaim;

export type TerminalClaimedAction = { type: 'terminal/claimed'; claim: TerminalClaim };

export type TerminalClearedAction = { type: 'terminal/cleared' };

export type TerminalClientClaim = { kind: 'client'; clientId: string };

export type TerminalCommandDetectionAvailableAction = { type: 'terminal/commandDetectionAvailable' };

export type TerminalCommandExecutedAction = {
  type: 'terminal/commandExecuted';
  commandId: string;
  commandLine: string;
  timestamp: number;
};

export type TerminalCommandFinishedAction = {
  type: 'terminal/commandFinished';
  commandId: string;
  exitCode?: number;
  durationMs?: number;
};

export type TerminalCommandPart = {
  type: 'command';
  commandId: string;
  commandLine: string;
  output: string;
  timestamp: number;
  isComplete: boolean;
  exitCode?: number;
  durationMs?: number;
};

export type TerminalContentPart = TerminalUnclassifiedPart | TerminalCommandPart;

export type TerminalCwdChangedAction = { type: 'terminal/cwdChanged'; cwd: URI };

export type TerminalDataAction = { type: 'terminal/data'; data: string };

export type TerminalExitedAction = { type: 'terminal/exited'; exitCode?: number };

export type TerminalInfo = { resource: URI; title: string; claim: TerminalClaim; exitCode?: number };

export type TerminalInputAction = { type: 'terminal/input'; data: string };

export type TerminalResizedAction = { type: 'terminal/resized'; cols: number; rows: number };

export type TerminalSessionClaim = { kind: 'session'; session: URI; turnId?: string; toolCallId?: string };

export type TerminalState = {
  title: string;
  cwd?: URI;
  cols?: number;
  rows?: number;
  content: Array<TerminalContentPart>;
  exitCode?: number;
  claim: TerminalClaim;
  supportsCommandDetection?: boolean;
};

export type TerminalTitleChangedAction = { type: 'terminal/titleChanged'; title: string };

export type TerminalUnclassifiedPart = { type: 'unclassified'; value: string };

export type TextPosition = { line: number; character: number };

export type TextRange = { start: TextPosition; end: TextPosition };

export type TextSelection = { range: TextRange };

export type ToolAnnotations = {
  title?: string;
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint?: boolean;
};

export type ToolCallCancellationReason = 'denied' | 'skipped' | 'result-denied';

export type ToolCallCancelledState = {
  status: 'cancelled';
  toolCallId: string;
  toolName: string;
  displayName: string;
  toolClientId?: string;
  _meta?: Meta;
  invocationMessage: StringOrMarkdown;
  toolInput?: string;
  reason: ToolCallCancellationReason;
  reasonMessage?: StringOrMarkdown;
  userSuggestion?: UserMessage;
  selectedOption?: ConfirmationOption;
};

export type ToolCallCompletedState = {
  status: 'completed';
  toolCallId: string;
  toolName: string;
  displayName: string;
  toolClientId?: string;
  _meta?: Meta;
  invocationMessage: StringOrMarkdown;
  toolInput?: string;
  confirmed: ToolCallConfirmationReason;
  selectedOption?: ConfirmationOption;
  success: boolean;
  pastTenseMessage: StringOrMarkdown;
  content?: Array<ToolResultContent>;
  structuredContent?: Record<string, unknown>;
  error?: ToolCallError;
};

export type ToolCallConfirmationReason = 'not-needed' | 'user-action' | 'setting';

export type ToolCallError = { message: string; code?: string };

export type ToolCallPendingConfirmationState = {
  status: 'pending-confirmation';
  toolCallId: string;
  toolName: string;
  displayName: string;
  toolClientId?: string;
  _meta?: Meta;
  invocationMessage: StringOrMarkdown;
  toolInput?: string;
  confirmationTitle?: StringOrMarkdown;
  edits?: FileEditList;
  editable?: boolean;
  options?: Array<ConfirmationOption>;
};

export type ToolCallPendingResultConfirmationState = {
  status: 'pending-result-confirmation';
  toolCallId: string;
  toolName: string;
  displayName: string;
  toolClientId?: string;
  _meta?: Meta;
  invocationMessage: StringOrMarkdown;
  toolInput?: string;
  confirmed: ToolCallConfirmationReason;
  selectedOption?: ConfirmationOption;
  success: boolean;
  pastTenseMessage: StringOrMarkdown;
  content?: Array<ToolResultContent>;
  structuredContent?: Record<string, unknown>;
  error?: ToolCallError;
};

export type ToolCallResponsePart = { kind: 'toolCall'; toolCall: ToolCallState };

export type ToolCallResult = {
  success: boolean;
  pastTenseMessage: StringOrMarkdown;
  content?: Array<ToolResultContent>;
  structuredContent?: Record<string, unknown>;
  error?: ToolCallError;
};

export type ToolCallRunningState = {
  status: 'running';
  toolCallId: string;
  toolName: string;
  displayName: string;
  toolClientId?: string;
  _meta?: Meta;
  invocationMessage: StringOrMarkdown;
  toolInput?: string;
  confirmed: ToolCallConfirmationReason;
  selectedOption?: ConfirmationOption;
  content?: Array<ToolResultContent>;
};

export type ToolCallState =
  | ToolCallStreamingState
  | ToolCallPendingConfirmationState
  | ToolCallRunningState
  | ToolCallPendingResultConfirmationState
  | ToolCallCompletedState
  | ToolCallCancelledState;

export type ToolCallStreamingState = {
  status: 'streaming';
  toolCallId: string;
  toolName: string;
  displayName: string;
  toolClientId?: string;
  _meta?: Meta;
  partialInput?: string;
  invocationMessage?: StringOrMarkdown;
};

export type ToolDefinition = {
  name: string;
  title?: string;
  description?: string;
  inputSchema?: ToolSchema;
  outputSchema?: ToolSchema;
  annotations?: ToolAnnotations;
  _meta?: Meta;
};

export type ToolResultContent =
  | ToolResultTextContent
  | ToolResultEmbeddedResourceContent
  | ToolResultResourceContent
  | ToolResultFileEditContent
  | ToolResultTerminalContent
  | ToolResultSubagentContent;

export type ToolResultEmbeddedResourceContent = { type: 'embeddedResource'; data: string; contentType: string };

export type ToolResultFileEditContent = {
  type: 'fileEdit';
  before?: FileEditSide;
  after?: FileEditSide;
  diff?: FileEditDiff;
};

export type ToolResultResourceContent = { type: 'resource'; uri: URI; sizeHint?: number; contentType?: string };

export type ToolResultSubagentContent = {
  type: 'subagent';
  resource: URI;
  title: string;
  agentName?: string;
  description?: string;
};

export type ToolResultTerminalContent = { type: 'terminal'; resource: URI; title: string };

export type ToolResultTextContent = { type: 'text'; text: string };

export type ToolSchema = { type: 'object'; properties?: Record<string, {}>; required?: Array<string> };

export type Turn = {
  id: string;
  userMessage: UserMessage;
  responseParts: Array<ResponsePart>;
  usage?: UsageInfo;
  state: TurnState;
  error?: ErrorInfo;
};

export type TurnState = 'complete' | 'cancelled' | 'error';

export type URI = string;

export type UnsubscribeParams = { channel: URI };

export type UnsupportedProtocolVersionErrorData = { supportedVersions?: Array<string> };

export type UsageInfo = {
  inputTokens?: number;
  outputTokens?: number;
  cacheReadTokens?: number;
  model?: string;
  _meta?: Meta;
};

export type UserMessage = { text: string; attachments?: Array<MessageAttachment>; _meta?: Meta };

export type WatchFilter = { items: Array<string> };
