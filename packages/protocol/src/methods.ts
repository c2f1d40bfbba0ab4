/** Every JSON-RPC method, in both directions, with the schemas of what it carries. */
import type { Static } from 'typebox';
import {
  InvokeChangesetOperationParams,
  InvokeChangesetOperationResult,
} from './changeset/commands/invoke-changeset-operation.js';
import { ActionEnvelope } from './common/action-envelope.js';
import { OtlpExportLogsParams } from './otlp/notifications/export-logs.js';
import { OtlpExportMetricsParams } from './otlp/notifications/export-metrics.js';
import { OtlpExportTracesParams } from './otlp/notifications/export-traces.js';
import {
  CreateResourceWatchParams,
  CreateResourceWatchResult,
} from './resource-watch/commands/create-resource-watch.js';
import { AuthenticateParams, AuthenticateResult } from './root/commands/authenticate.js';
import { InitializeParams, InitializeResult } from './root/commands/initialize.js';
import { ListSessionsParams, ListSessionsResult } from './root/commands/list-sessions.js';
import { PingParams, PingResult } from './root/commands/ping.js';
import { ReconnectParams, ReconnectResult } from './root/commands/reconnect.js';
import { ResolveSessionConfigParams, ResolveSessionConfigResult } from './root/commands/resolve-session-config.js';
import { ResourceCopyParams, ResourceCopyResult } from './root/commands/resource-copy.js';
import { ResourceDeleteParams, ResourceDeleteResult } from './root/commands/resource-delete.js';
import { ResourceListParams, ResourceListResult } from './root/commands/resource-list.js';
import { ResourceMkdirParams, ResourceMkdirResult } from './root/commands/resource-mkdir.js';
import { ResourceMoveParams, ResourceMoveResult } from './root/commands/resource-move.js';
import { ResourceReadParams, ResourceReadResult } from './root/commands/resource-read.js';
import { ResourceRequestParams, ResourceRequestResult } from './root/commands/resource-request.js';
import { ResourceResolveParams, ResourceResolveResult } from './root/commands/resource-resolve.js';
import { ResourceWriteParams, ResourceWriteResult } from './root/commands/resource-write.js';
import {
  SessionConfigCompletionsParams,
  SessionConfigCompletionsResult,
} from './root/commands/session-config-completions.js';
import { SubscribeParams, SubscribeResult } from './root/commands/subscribe.js';
import { AuthRequiredParams } from './root/notifications/auth-required.js';
import { DispatchActionParams } from './root/notifications/dispatch-action.js';
import { SessionAddedParams } from './root/notifications/session-added.js';
import { SessionRemovedParams } from './root/notifications/session-removed.js';
import { SessionSummaryChangedParams } from './root/notifications/session-summary-changed.js';
import { UnsubscribeParams } from './root/notifications/unsubscribe.js';
import { CompletionsParams, CompletionsResult } from './session/commands/completions.js';
import { CreateSessionParams, CreateSessionResult } from './session/commands/create-session.js';
import { DisposeSessionParams, DisposeSessionResult } from './session/commands/dispose-session.js';
import { FetchTurnsParams, FetchTurnsResult } from './session/commands/fetch-turns.js';
import {
  SystemMessageTransformParams,
  SystemMessageTransformResult,
} from './session/commands/system-message-transform.js';
import { CreateTerminalParams, CreateTerminalResult } from './terminal/commands/create-terminal.js';
import { DisposeTerminalParams, DisposeTerminalResult } from './terminal/commands/dispose-terminal.js';

/** Requests that either side may send: each acts on the receiver's files or content. */
const resourceRequests = {
  resourceRead: { params: ResourceReadParams, result: ResourceReadResult },
  resourceWrite: { params: ResourceWriteParams, result: ResourceWriteResult },
  resourceList: { params: ResourceListParams, result: ResourceListResult },
  resourceCopy: { params: ResourceCopyParams, result: ResourceCopyResult },
  resourceDelete: { params: ResourceDeleteParams, result: ResourceDeleteResult },
  resourceMove: { params: ResourceMoveParams, result: ResourceMoveResult },
  resourceResolve: { params: ResourceResolveParams, result: ResourceResolveResult },
  resourceMkdir: { params: ResourceMkdirParams, result: ResourceMkdirResult },
  resourceRequest: { params: ResourceRequestParams, result: ResourceRequestResult },
  createResourceWatch: { params: CreateResourceWatchParams, result: CreateResourceWatchResult },
} as const;

/** Client to host, answered. */
export const clientRequests = {
  initialize: { params: InitializeParams, result: InitializeResult },
  ping: { params: PingParams, result: PingResult },
  reconnect: { params: ReconnectParams, result: ReconnectResult },
  subscribe: { params: SubscribeParams, result: SubscribeResult },
  createSession: { params: CreateSessionParams, result: CreateSessionResult },
  disposeSession: { params: DisposeSessionParams, result: DisposeSessionResult },
  createTerminal: { params: CreateTerminalParams, result: CreateTerminalResult },
  disposeTerminal: { params: DisposeTerminalParams, result: DisposeTerminalResult },
  listSessions: { params: ListSessionsParams, result: ListSessionsResult },
  ...resourceRequests,
  fetchTurns: { params: FetchTurnsParams, result: FetchTurnsResult },
  authenticate: { params: AuthenticateParams, result: AuthenticateResult },
  resolveSessionConfig: { params: ResolveSessionConfigParams, result: ResolveSessionConfigResult },
  sessionConfigCompletions: { params: SessionConfigCompletionsParams, result: SessionConfigCompletionsResult },
  completions: { params: CompletionsParams, result: CompletionsResult },
  invokeChangesetOperation: { params: InvokeChangesetOperationParams, result: InvokeChangesetOperationResult },
} as const;

/** Host to client, answered. */
export const hostRequests = {
  ...resourceRequests,
  systemMessageTransform: { params: SystemMessageTransformParams, result: SystemMessageTransformResult },
} as const;

/** Client to host, never answered. */
export const clientNotifications = {
  unsubscribe: UnsubscribeParams,
  dispatchAction: DispatchActionParams,
} as const;

/** Host to client, never answered. */
export const hostNotifications = {
  action: ActionEnvelope,
  'root/sessionAdded': SessionAddedParams,
  'root/sessionRemoved': SessionRemovedParams,
  'root/sessionSummaryChanged': SessionSummaryChangedParams,
  'auth/required': AuthRequiredParams,
  'otlp/exportLogs': OtlpExportLogsParams,
  'otlp/exportTraces': OtlpExportTracesParams,
  'otlp/exportMetrics': OtlpExportMetricsParams,
} as const;

type Calls<Table extends Record<string, { params: unknown; result: unknown }>> = {
  [Method in keyof Table]: {
    params: Static<Table[Method]['params'] & {}>;
    result: Static<Table[Method]['result'] & {}>;
  };
};
type Casts<Table> = { [Method in keyof Table]: Static<Table[Method] & {}> };

export type ClientRequests = Calls<typeof clientRequests>;
export type ClientRequestMethod = keyof ClientRequests;
export type HostRequests = Calls<typeof hostRequests>;
export type HostRequestMethod = keyof HostRequests;
export type ClientNotifications = Casts<typeof clientNotifications>;
export type ClientNotificationMethod = keyof ClientNotifications;
export type HostNotifications = Casts<typeof hostNotifications>;
export type HostNotificationMethod = keyof HostNotifications;
