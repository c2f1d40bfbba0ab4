/** The version-1 wire, frozen: the shapes of the protocol's first integer version. Only its dialect may use them. */

/** Two generations of clients spell the root differently. */
export type V1RootUri = 'agenthost:root' | 'agenthost:/root';

// Root state

export interface V1ModelInfo {
  readonly id: string;
  readonly provider: string;
  readonly name: string;
  readonly maxContextWindow?: number;
  readonly supportsVision?: boolean;
  readonly policyState?: 'enabled' | 'disabled' | 'unconfigured';
}

export interface V1AgentInfo {
  readonly provider: string;
  readonly displayName: string;
  readonly description: string;
  readonly models: readonly V1ModelInfo[];
}

export interface V1RootState {
  readonly agents: readonly V1AgentInfo[];
}

// Session state

export interface V1ErrorInfo {
  readonly errorType: string;
  readonly message: string;
  readonly stack?: string;
}

export interface V1UsageInfo {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly cacheReadTokens?: number;
  readonly model?: string;
}

export interface V1ContentRef {
  readonly uri: string;
  readonly sizeHint?: number;
  readonly mimeType?: string;
}

export interface V1Attachment {
  readonly type: 'file' | 'directory' | 'selection';
  readonly path: string;
  readonly displayName?: string;
}

export interface V1UserMessage {
  readonly text: string;
  readonly attachments?: readonly V1Attachment[];
}

export interface V1MarkdownPart {
  readonly kind: 'markdown';
  readonly content: string;
}

export interface V1ContentRefPart extends V1ContentRef {
  readonly kind: 'contentRef';
}

export type V1ResponsePart = V1MarkdownPart | V1ContentRefPart;

export interface V1ToolError {
  readonly message: string;
  readonly code?: string;
}

export interface V1ToolCallBase {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly displayName: string;
  readonly invocationMessage: string;
  readonly toolInput?: string;
}

export type V1ToolCallStatus = 'running' | 'pending-permission' | 'completed' | 'failed' | 'cancelled';

export interface V1ToolCallState extends V1ToolCallBase {
  readonly status: V1ToolCallStatus;
  readonly confirmed?: string;
  readonly pastTenseMessage?: string;
  readonly toolOutput?: string;
  readonly error?: V1ToolError;
  readonly cancellationReason?: string;
}

export interface V1ToolCallResult {
  readonly success: boolean;
  readonly pastTenseMessage: string;
  readonly toolOutput?: string;
  readonly error?: V1ToolError;
}

export interface V1CompletedToolCall extends V1ToolCallBase, V1ToolCallResult {}

export type V1PermissionKind = 'shell' | 'write' | 'mcp' | 'read' | 'url';

export interface V1PermissionRequest {
  readonly requestId: string;
  readonly permissionKind: V1PermissionKind;
  readonly toolCallId?: string;
  readonly path?: string;
  readonly fullCommandText?: string;
  readonly intention?: string;
  readonly serverName?: string;
  readonly toolName?: string;
  readonly rawRequest?: string;
}

export interface V1Turn {
  readonly id: string;
  readonly userMessage: V1UserMessage;
  readonly responseParts: readonly V1ResponsePart[];
  /** Not in the first text of version 1; clients of a variant of it show this instead of the parts. */
  readonly responseText?: string;
  readonly toolCalls: readonly V1CompletedToolCall[];
  readonly usage?: V1UsageInfo;
  readonly state: 'complete' | 'cancelled' | 'error';
  readonly error?: V1ErrorInfo;
}

export interface V1ActiveTurn {
  readonly id: string;
  readonly userMessage: V1UserMessage;
  readonly streamingText: string;
  readonly responseParts: readonly V1ResponsePart[];
  readonly toolCalls: Readonly<Record<string, V1ToolCallState>>;
  readonly pendingPermissions: Readonly<Record<string, V1PermissionRequest>>;
  readonly reasoning: string;
  readonly usage?: V1UsageInfo;
}

export interface V1SessionSummary {
  readonly resource: string;
  readonly provider: string;
  readonly title: string;
  readonly status: 'idle' | 'in-progress' | 'error';
  readonly createdAt: number;
  readonly modifiedAt: number;
  readonly model?: string;
}

export interface V1SessionState {
  readonly summary: V1SessionSummary;
  readonly lifecycle: 'creating' | 'ready' | 'creationFailed';
  readonly creationError?: V1ErrorInfo;
  readonly turns: readonly V1Turn[];
  readonly activeTurn?: V1ActiveTurn;
}

export interface V1Snapshot {
  readonly resource: string;
  readonly state: V1RootState | V1SessionState;
  readonly fromSeq: number;
}

// Actions: one of the root, sixteen of a session

export interface V1AgentsChangedAction {
  readonly type: 'root/agentsChanged';
  readonly agents: readonly V1AgentInfo[];
}

export interface V1SessionActionBase {
  readonly session: string;
}

export interface V1ReadyAction extends V1SessionActionBase {
  readonly type: 'session/ready';
}

export interface V1CreationFailedAction extends V1SessionActionBase {
  readonly type: 'session/creationFailed';
  readonly error: V1ErrorInfo;
}

export interface V1TitleChangedAction extends V1SessionActionBase {
  readonly type: 'session/titleChanged';
  readonly title: string;
}

export interface V1ModelChangedAction extends V1SessionActionBase {
  readonly type: 'session/modelChanged';
  readonly model: string;
}

export interface V1TurnActionBase extends V1SessionActionBase {
  readonly turnId: string;
}

export interface V1TurnStartedAction extends V1TurnActionBase {
  readonly type: 'session/turnStarted';
  readonly userMessage: V1UserMessage;
}

export interface V1DeltaAction extends V1TurnActionBase {
  readonly type: 'session/delta';
  readonly content: string;
}

export interface V1ReasoningAction extends V1TurnActionBase {
  readonly type: 'session/reasoning';
  readonly content: string;
}

export interface V1ResponsePartAction extends V1TurnActionBase {
  readonly type: 'session/responsePart';
  readonly part: V1ResponsePart;
}

export interface V1ToolStartAction extends V1TurnActionBase {
  readonly type: 'session/toolStart';
  readonly toolCall: V1ToolCallState;
}

export interface V1ToolCompleteAction extends V1TurnActionBase {
  readonly type: 'session/toolComplete';
  readonly toolCallId: string;
  readonly result: V1ToolCallResult;
}

export interface V1PermissionRequestAction extends V1TurnActionBase {
  readonly type: 'session/permissionRequest';
  readonly request: V1PermissionRequest;
}

export interface V1PermissionResolvedAction extends V1TurnActionBase {
  readonly type: 'session/permissionResolved';
  readonly requestId: string;
  readonly approved: boolean;
}

export interface V1UsageAction extends V1TurnActionBase {
  readonly type: 'session/usage';
  readonly usage: V1UsageInfo;
}

export interface V1TurnCompleteAction extends V1TurnActionBase {
  readonly type: 'session/turnComplete';
}

export interface V1TurnCancelledAction extends V1TurnActionBase {
  readonly type: 'session/turnCancelled';
}

export interface V1ErrorAction extends V1TurnActionBase {
  readonly type: 'session/error';
  readonly error: V1ErrorInfo;
}

export type V1SessionAction =
  | V1ReadyAction
  | V1CreationFailedAction
  | V1TitleChangedAction
  | V1ModelChangedAction
  | V1TurnStartedAction
  | V1DeltaAction
  | V1ReasoningAction
  | V1ResponsePartAction
  | V1ToolStartAction
  | V1ToolCompleteAction
  | V1PermissionRequestAction
  | V1PermissionResolvedAction
  | V1UsageAction
  | V1TurnCompleteAction
  | V1TurnCancelledAction
  | V1ErrorAction;

export type V1Action = V1AgentsChangedAction | V1SessionAction;

export interface V1ActionOrigin {
  readonly clientId: string;
  readonly clientSeq: number;
}

export interface V1ActionEnvelope {
  readonly action: V1Action;
  readonly serverSeq: number;
  readonly origin?: V1ActionOrigin;
  readonly rejectionReason?: string;
}

// Notifications

export interface V1SessionAddedNotification {
  readonly type: 'notify/sessionAdded';
  readonly summary: V1SessionSummary;
}

export interface V1SessionRemovedNotification {
  readonly type: 'notify/sessionRemoved';
  readonly session: string;
}

export type V1Notification = V1SessionAddedNotification | V1SessionRemovedNotification;

// Commands

export interface V1InitializeParams {
  readonly protocolVersion: number;
  readonly clientId: string;
  readonly initialSubscriptions?: readonly string[];
}

export interface V1InitializeResult {
  readonly protocolVersion: number;
  readonly serverSeq: number;
  readonly snapshots: readonly V1Snapshot[];
  readonly defaultDirectory?: string;
}

export interface V1ReconnectParams {
  readonly clientId: string;
  readonly lastSeenServerSeq: number;
  readonly subscriptions: readonly string[];
}

export type V1ReconnectResult =
  | { readonly type: 'replay'; readonly actions: readonly V1ActionEnvelope[] }
  | { readonly type: 'snapshot'; readonly snapshots: readonly V1Snapshot[] };

export interface V1SubscribeParams {
  readonly resource: string;
}

/** The second form is for connections that spell the root `agenthost:/root`. */
export type V1SubscribeResult = V1Snapshot | (V1Snapshot & { readonly snapshot: V1Snapshot });

export interface V1UnsubscribeParams {
  readonly resource: string;
}

export interface V1CreateSessionParams {
  readonly session: string;
  readonly provider?: string;
  readonly model?: string;
  readonly workingDirectory?: string;
}

export interface V1DisposeSessionParams {
  readonly session: string;
}

export interface V1ListSessionsParams {
  readonly filter?: Readonly<Record<string, unknown>>;
}

/** The second form is for connections that spell the root `agenthost:/root`. */
export type V1ListSessionsResult =
  | readonly V1SessionSummary[]
  | { readonly sessions: readonly V1SessionSummary[]; readonly items: readonly V1SessionSummary[] };

export interface V1TurnRange {
  readonly before?: string;
  readonly limit?: number;
  readonly start?: number;
  readonly end?: number;
  readonly startTurn?: number;
  readonly count?: number;
}

export interface V1FetchTurnsParams extends V1TurnRange {
  readonly session: string;
  readonly range?: V1TurnRange;
}

export interface V1FetchTurnsResult {
  readonly turns: readonly V1Turn[];
  readonly hasMore: boolean;
  readonly session?: string;
  readonly startTurn?: number;
  readonly totalTurns?: number;
}

export interface V1FetchContentParams {
  readonly uri: string;
}

export interface V1FetchContentResult {
  readonly data: string;
  readonly encoding: 'base64' | 'utf-8';
  readonly mimeType?: string;
}

export interface V1BrowseDirectoryParams {
  readonly uri: string;
}

export interface V1BrowseDirectoryResult {
  readonly entries: readonly { readonly name: string; readonly type: 'file' | 'directory' }[];
}

export interface V1DispatchActionParams {
  readonly clientSeq: number;
  readonly action: V1Action;
}
