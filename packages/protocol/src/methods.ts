/** Every JSON-RPC method, in both directions, with the schemas of its params and result. */
import type { Static } from 'typebox';
import { InvokeChangesetOperationParams, InvokeChangesetOperationResult } from './changeset/commands.js';
import { ActionEnvelope } from './common/envelope.js';
import { OtlpExportLogsParams, OtlpExportMetricsParams, OtlpExportTracesParams } from './otlp/telemetry.js';
import { CreateResourceWatchParams, CreateResourceWatchResult } from './resource-watch/commands.js';
import { AuthenticateParams, AuthenticateResult, AuthRequiredParams } from './root/authentication.js';
import {
  ListSessionsParams,
  ListSessionsResult,
  ResolveSessionConfigParams,
  ResolveSessionConfigResult,
  SessionAddedParams,
  SessionConfigCompletionsParams,
  SessionConfigCompletionsResult,
  SessionRemovedParams,
  SessionSummaryChangedParams,
} from './root/commands.js';
import {
  DispatchActionParams,
  InitializeParams,
  InitializeResult,
  PingParams,
  PingResult,
  ReconnectParams,
  ReconnectResult,
  SubscribeParams,
  SubscribeResult,
  UnsubscribeParams,
} from './root/connection.js';
import {
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
  ResourceWriteParams,
  ResourceWriteResult,
} from './root/resources.js';
import {
  CompletionsParams,
  CompletionsResult,
  CreateSessionParams,
  CreateSessionResult,
  DisposeSessionParams,
  DisposeSessionResult,
  FetchTurnsParams,
  FetchTurnsResult,
  SystemMessageTransformParams,
  SystemMessageTransformResult,
} from './session/commands.js';
import {
  CreateTerminalParams,
  CreateTerminalResult,
  DisposeTerminalParams,
  DisposeTerminalResult,
} from './terminal/commands.js';

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
