/** Every JSON-RPC method, in both directions, with the schemas of its params and result. */
import type { Static } from 'typebox';
import { OtlpExportLogsParams, OtlpExportMetricsParams, OtlpExportTracesParams } from '../otlp/telemetry.js';
import * as automation from './automation/commands.js';
import { InvokeChangesetOperationParams, InvokeChangesetOperationResult } from './changeset/commands.js';
import * as chat from './chat/commands.js';
import { ActionEnvelope } from './common/envelope.js';
import * as root from './root/commands.js';
import * as connection from './root/connection.js';
import * as resources from './root/resources.js';
import * as session from './session/commands.js';
import * as terminal from './terminal/commands.js';

/** Requests that either side may send: each acts on the receiver's files or content. */
const resourceRequests = {
  resourceRead: { params: resources.ResourceReadParams, result: resources.ResourceReadResult },
  resourceWrite: { params: resources.ResourceWriteParams, result: resources.ResourceWriteResult },
  resourceList: { params: resources.ResourceListParams, result: resources.ResourceListResult },
  resourceCopy: { params: resources.ResourceCopyParams, result: resources.ResourceCopyResult },
  resourceDelete: { params: resources.ResourceDeleteParams, result: resources.ResourceDeleteResult },
  resourceMove: { params: resources.ResourceMoveParams, result: resources.ResourceMoveResult },
  resourceResolve: { params: resources.ResourceResolveParams, result: resources.ResourceResolveResult },
  resourceMkdir: { params: resources.ResourceMkdirParams, result: resources.ResourceMkdirResult },
  resourceRequest: { params: resources.ResourceRequestParams, result: resources.ResourceRequestResult },
  createResourceWatch: { params: resources.CreateResourceWatchParams, result: resources.CreateResourceWatchResult },
} as const;

/** Client to host, answered. MCP methods on an `mcp:` channel are not among them: MCP defines those. */
export const clientRequests = {
  initialize: { params: connection.InitializeParams, result: connection.InitializeResult },
  ping: { params: connection.PingParams, result: connection.PingResult },
  reconnect: { params: connection.ReconnectParams, result: connection.ReconnectResult },
  subscribe: { params: connection.SubscribeParams, result: connection.SubscribeResult },
  createSession: { params: session.CreateSessionParams, result: session.CreateSessionResult },
  disposeSession: { params: session.DisposeSessionParams, result: session.DisposeSessionResult },
  createChat: { params: chat.CreateChatParams, result: chat.CreateChatResult },
  disposeChat: { params: chat.DisposeChatParams, result: chat.DisposeChatResult },
  moveChat: { params: chat.MoveChatParams, result: chat.MoveChatResult },
  createTerminal: { params: terminal.CreateTerminalParams, result: terminal.CreateTerminalResult },
  disposeTerminal: { params: terminal.DisposeTerminalParams, result: terminal.DisposeTerminalResult },
  listSessions: { params: root.ListSessionsParams, result: root.ListSessionsResult },
  ...resourceRequests,
  fetchTurns: { params: chat.FetchTurnsParams, result: chat.FetchTurnsResult },
  authenticate: { params: root.AuthenticateParams, result: root.AuthenticateResult },
  resolveSessionConfig: { params: root.ResolveSessionConfigParams, result: root.ResolveSessionConfigResult },
  sessionConfigCompletions: {
    params: root.SessionConfigCompletionsParams,
    result: root.SessionConfigCompletionsResult,
  },
  completions: { params: chat.CompletionsParams, result: chat.CompletionsResult },
  invokeChangesetOperation: { params: InvokeChangesetOperationParams, result: InvokeChangesetOperationResult },
  listAutomationTriggerDefinitions: {
    params: automation.ListAutomationTriggerDefinitionsParams,
    result: automation.ListAutomationTriggerDefinitionsResult,
  },
  runAutomation: { params: automation.RunAutomationParams, result: automation.RunAutomationResult },
  fetchAutomationRuns: { params: automation.FetchAutomationRunsParams, result: automation.FetchAutomationRunsResult },
} as const;

/** Host to client, answered. `systemMessageTransform` is our own. */
export const hostRequests = {
  ...resourceRequests,
  systemMessageTransform: {
    params: session.SystemMessageTransformParams,
    result: session.SystemMessageTransformResult,
  },
} as const;

/** Client to host, never answered. */
export const clientNotifications = {
  unsubscribe: connection.UnsubscribeParams,
  dispatchAction: connection.DispatchActionParams,
} as const;

/** Host to client, never answered. */
export const hostNotifications = {
  action: ActionEnvelope,
  'root/sessionAdded': root.SessionAddedParams,
  'root/sessionRemoved': root.SessionRemovedParams,
  'root/sessionSummaryChanged': root.SessionSummaryChangedParams,
  'root/progress': root.ProgressParams,
  'auth/required': root.AuthRequiredParams,
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
