/** The shapes of the sessions-process protocol, version 1: frozen. Only this dialect uses them. */

/** Two generations of clients spell the root differently. */
export type SessionsV1RootUri = 'agenthost:root' | 'agenthost:/root';

// Root state

export interface SessionsV1ModelInfo {
  readonly id: string;
  readonly provider: string;
  readonly name: string;
  readonly maxContextWindow?: number;
  readonly supportsVision?: boolean;
  readonly policyState?: 'enabled' | 'disabled' | 'unconfigured';
}

export interface SessionsV1AgentInfo {
  readonly provider: string;
  readonly displayName: string;
  readonly description: string;
  readonly models: readonly SessionsV1ModelInfo[];
}

export interface SessionsV1RootState {
  readonly agents: readonly SessionsV1AgentInfo[];
}

// Session state

export interface SessionsV1ErrorInfo {
  readonly errorType: string;
  readonly message: string;
  readonly stack?: string;
}

export interface SessionsV1UsageInfo {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly cacheReadTokens?: number;
  readonly model?: string;
}

export interface SessionsV1ContentRef {
  readonly uri: string;
  readonly sizeHint?: number;
  readonly mimeType?: string;
}

export interface SessionsV1Attachment {
  readonly type: 'file' | 'directory' | 'selection';
  readonly path: string;
  readonly displayName?: string;
}

export interface SessionsV1UserMessage {
  readonly text: string;
  readonly attachments?: readonly SessionsV1Attachment[];
}

export interface SessionsV1MarkdownPart {
  readonly kind: 'markdown';
  readonly content: string;
}

export interface SessionsV1ContentRefPart extends SessionsV1ContentRef {
  readonly kind: 'contentRef';
}

export type SessionsV1ResponsePart = SessionsV1MarkdownPart | SessionsV1ContentRefPart;

export interface SessionsV1ToolError {
  readonly message: string;
  readonly code?: string;
}

export interface SessionsV1ToolCallBase {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly displayName: string;
  readonly invocationMessage: string;
  readonly toolInput?: string;
}

export type SessionsV1ToolCallStatus = 'running' | 'pending-permission' | 'completed' | 'failed' | 'cancelled';

export interface SessionsV1ToolCallState extends SessionsV1ToolCallBase {
  readonly status: SessionsV1ToolCallStatus;
  readonly confirmed?: string;
  readonly pastTenseMessage?: string;
  readonly toolOutput?: string;
  readonly error?: SessionsV1ToolError;
  readonly cancellationReason?: string;
}

export interface SessionsV1ToolCallResult {
  readonly success: boolean;
  readonly pastTenseMessage: string;
  readonly toolOutput?: string;
  readonly error?: SessionsV1ToolError;
}

export interface SessionsV1CompletedToolCall extends SessionsV1ToolCallBase, SessionsV1ToolCallResult {}

export type SessionsV1PermissionKind = 'shell' | 'write' | 'mcp' | 'read' | 'url';

export interface SessionsV1PermissionRequest {
  readonly requestId: string;
  readonly permissionKind: SessionsV1PermissionKind;
  readonly toolCallId?: string;
  readonly path?: string;
  readonly fullCommandText?: string;
  readonly intention?: string;
  readonly serverName?: string;
  readonly toolName?: string;
  readonly rawRequest?: string;
}

export interface SessionsV1Turn {
  readonly id: string;
  readonly userMessage: SessionsV1UserMessage;
  readonly responseParts: readonly SessionsV1ResponsePart[];
  /** Not in the first text of sessions-v1; clients of a variant of it show this instead of the parts. */
  readonly responseText?: string;
  readonly toolCalls: readonly SessionsV1CompletedToolCall[];
  readonly usage?: SessionsV1UsageInfo;
  readonly state: 'complete' | 'cancelled' | 'error';
  readonly error?: SessionsV1ErrorInfo;
}

export interface SessionsV1ActiveTurn {
  readonly id: string;
  readonly userMessage: SessionsV1UserMessage;
  readonly streamingText: string;
  readonly responseParts: readonly SessionsV1ResponsePart[];
  readonly toolCalls: Readonly<Record<string, SessionsV1ToolCallState>>;
  readonly pendingPermissions: Readonly<Record<string, SessionsV1PermissionRequest>>;
  readonly reasoning: string;
  readonly usage?: SessionsV1UsageInfo;
}

export interface SessionsV1SessionSummary {
  readonly resource: string;
  readonly provider: string;
  readonly title: string;
  readonly status: 'idle' | 'in-progress' | 'error';
  readonly createdAt: number;
  readonly modifiedAt: number;
  readonly model?: string;
}

export interface SessionsV1SessionState {
  readonly summary: SessionsV1SessionSummary;
  readonly lifecycle: 'creating' | 'ready' | 'creationFailed';
  readonly creationError?: SessionsV1ErrorInfo;
  readonly turns: readonly SessionsV1Turn[];
  readonly activeTurn?: SessionsV1ActiveTurn;
}

export interface SessionsV1Snapshot {
  readonly resource: string;
  readonly state: SessionsV1RootState | SessionsV1SessionState;
  readonly fromSeq: number;
}

// Actions: one of the root, sixteen of a session

export interface SessionsV1AgentsChangedAction {
  readonly type: 'root/agentsChanged';
  readonly agents: readonly SessionsV1AgentInfo[];
}

export interface SessionsV1SessionActionBase {
  readonly session: string;
}

export interface SessionsV1ReadyAction extends SessionsV1SessionActionBase {
  readonly type: 'session/ready';
}

export interface SessionsV1CreationFailedAction extends SessionsV1SessionActionBase {
  readonly type: 'session/creationFailed';
  readonly error: SessionsV1ErrorInfo;
}

export interface SessionsV1TitleChangedAction extends SessionsV1SessionActionBase {
  readonly type: 'session/titleChanged';
  readonly title: string;
}

export interface SessionsV1ModelChangedAction extends SessionsV1SessionActionBase {
  readonly type: 'session/modelChanged';
  readonly model: string;
}

export interface SessionsV1TurnActionBase extends SessionsV1SessionActionBase {
  readonly turnId: string;
}

export interface SessionsV1TurnStartedAction extends SessionsV1TurnActionBase {
  readonly type: 'session/turnStarted';
  readonly userMessage: SessionsV1UserMessage;
}

export interface SessionsV1DeltaAction extends SessionsV1TurnActionBase {
  readonly type: 'session/delta';
  readonly content: string;
}

export interface SessionsV1ReasoningAction extends SessionsV1TurnActionBase {
  readonly type: 'session/reasoning';
  readonly content: string;
}

export interface SessionsV1ResponsePartAction extends SessionsV1TurnActionBase {
  readonly type: 'session/responsePart';
  readonly part: SessionsV1ResponsePart;
}

export interface SessionsV1ToolStartAction extends SessionsV1TurnActionBase {
  readonly type: 'session/toolStart';
  readonly toolCall: SessionsV1ToolCallState;
}

export interface SessionsV1ToolCompleteAction extends SessionsV1TurnActionBase {
  readonly type: 'session/toolComplete';
  readonly toolCallId: string;
  readonly result: SessionsV1ToolCallResult;
}

export interface SessionsV1PermissionRequestAction extends SessionsV1TurnActionBase {
  readonly type: 'session/permissionRequest';
  readonly request: SessionsV1PermissionRequest;
}

export interface SessionsV1PermissionResolvedAction extends SessionsV1TurnActionBase {
  readonly type: 'session/permissionResolved';
  readonly requestId: string;
  readonly approved: boolean;
}

export interface SessionsV1UsageAction extends SessionsV1TurnActionBase {
  readonly type: 'session/usage';
  readonly usage: SessionsV1UsageInfo;
}

export interface SessionsV1TurnCompleteAction extends SessionsV1TurnActionBase {
  readonly type: 'session/turnComplete';
}

export interface SessionsV1TurnCancelledAction extends SessionsV1TurnActionBase {
  readonly type: 'session/turnCancelled';
}

export interface SessionsV1ErrorAction extends SessionsV1TurnActionBase {
  readonly type: 'session/error';
  readonly error: SessionsV1ErrorInfo;
}

export type SessionsV1SessionAction =
  | SessionsV1ReadyAction
  | SessionsV1CreationFailedAction
  | SessionsV1TitleChangedAction
  | SessionsV1ModelChangedAction
  | SessionsV1TurnStartedAction
  | SessionsV1DeltaAction
  | SessionsV1ReasoningAction
  | SessionsV1ResponsePartAction
  | SessionsV1ToolStartAction
  | SessionsV1ToolCompleteAction
  | SessionsV1PermissionRequestAction
  | SessionsV1PermissionResolvedAction
  | SessionsV1UsageAction
  | SessionsV1TurnCompleteAction
  | SessionsV1TurnCancelledAction
  | SessionsV1ErrorAction;

export type SessionsV1Action = SessionsV1AgentsChangedAction | SessionsV1SessionAction;

export interface SessionsV1ActionOrigin {
  readonly clientId: string;
  readonly clientSeq: number;
}

export interface SessionsV1ActionEnvelope {
  readonly action: SessionsV1Action;
  readonly serverSeq: number;
  readonly origin?: SessionsV1ActionOrigin;
  readonly rejectionReason?: string;
}

// Notifications

export interface SessionsV1SessionAddedNotification {
  readonly type: 'notify/sessionAdded';
  readonly summary: SessionsV1SessionSummary;
}

export interface SessionsV1SessionRemovedNotification {
  readonly type: 'notify/sessionRemoved';
  readonly session: string;
}

export type SessionsV1Notification = SessionsV1SessionAddedNotification | SessionsV1SessionRemovedNotification;

// Commands

export interface SessionsV1InitializeParams {
  readonly protocolVersion: number;
  readonly clientId: string;
  readonly initialSubscriptions?: readonly string[];
}

export interface SessionsV1InitializeResult {
  readonly protocolVersion: number;
  readonly serverSeq: number;
  readonly snapshots: readonly SessionsV1Snapshot[];
  readonly defaultDirectory?: string;
}

export interface SessionsV1ReconnectParams {
  readonly clientId: string;
  readonly lastSeenServerSeq: number;
  readonly subscriptions: readonly string[];
}

export type SessionsV1ReconnectResult =
  | { readonly type: 'replay'; readonly actions: readonly SessionsV1ActionEnvelope[] }
  | { readonly type: 'snapshot'; readonly snapshots: readonly SessionsV1Snapshot[] };

export interface SessionsV1SubscribeParams {
  readonly resource: string;
}

/** The second form is for connections that spell the root `agenthost:/root`. */
export type SessionsV1SubscribeResult =
  | SessionsV1Snapshot
  | (SessionsV1Snapshot & { readonly snapshot: SessionsV1Snapshot });

export interface SessionsV1UnsubscribeParams {
  readonly resource: string;
}

export interface SessionsV1CreateSessionParams {
  readonly session: string;
  readonly provider?: string;
  readonly model?: string;
  readonly workingDirectory?: string;
}

export interface SessionsV1DisposeSessionParams {
  readonly session: string;
}

export interface SessionsV1ListSessionsParams {
  readonly filter?: Readonly<Record<string, unknown>>;
}

/** The second form is for connections that spell the root `agenthost:/root`. */
export type SessionsV1ListSessionsResult =
  | readonly SessionsV1SessionSummary[]
  | { readonly sessions: readonly SessionsV1SessionSummary[]; readonly items: readonly SessionsV1SessionSummary[] };

export interface SessionsV1TurnRange {
  readonly before?: string;
  readonly limit?: number;
  readonly start?: number;
  readonly end?: number;
  readonly startTurn?: number;
  readonly count?: number;
}

export interface SessionsV1FetchTurnsParams extends SessionsV1TurnRange {
  readonly session: string;
  readonly range?: SessionsV1TurnRange;
}

export interface SessionsV1FetchTurnsResult {
  readonly turns: readonly SessionsV1Turn[];
  readonly hasMore: boolean;
  readonly session?: string;
  readonly startTurn?: number;
  readonly totalTurns?: number;
}

export interface SessionsV1FetchContentParams {
  readonly uri: string;
}

export interface SessionsV1FetchContentResult {
  readonly data: string;
  readonly encoding: 'base64' | 'utf-8';
  readonly mimeType?: string;
}

export interface SessionsV1BrowseDirectoryParams {
  readonly uri: string;
}

export interface SessionsV1BrowseDirectoryResult {
  readonly entries: readonly { readonly name: string; readonly type: 'file' | 'directory' }[];
}

export interface SessionsV1DispatchActionParams {
  readonly clientSeq: number;
  readonly action: SessionsV1Action;
}
