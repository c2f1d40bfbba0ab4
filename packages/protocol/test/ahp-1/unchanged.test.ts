/** What 1.0 did not change since 0.2.0: the same definitions, but for the metadata of requests. */
import { describe, expect, it } from 'vitest';
import type { JsonSchema } from '../../scripts/bundle.js';
import { frozenWires, livingWire } from '../../scripts/frozen.js';
import { AHP_1_WIRE } from '../../scripts/wires.js';

const UNCHANGED = `ActionOrigin PingParams PingResult UnsubscribeParams ReconnectParams DisposeSessionParams
  DisposeSessionResult CreateSessionResult CompletionsParams ResolveSessionConfigParams SessionConfigCompletionsParams
  SessionConfigCompletionsResult SessionConfigValueItem SessionRemovedParams ResourceReadParams ResourceReadResult
  ResourceWriteParams ResourceWriteResult ResourceListParams ResourceListResult DirectoryEntry ResourceCopyParams
  ResourceCopyResult ResourceDeleteParams ResourceDeleteResult ResourceMoveParams ResourceMoveResult
  ResourceResolveParams ResourceResolveResult ResourceMkdirParams ResourceMkdirResult ResourceRequestParams
  ResourceRequestResult CreateResourceWatchParams CreateResourceWatchResult ResourceWatchState ResourceChange
  ResourceWatchChangedAction DisposeTerminalParams DisposeTerminalResult CreateTerminalResult TerminalClientClaim
  TerminalDataAction TerminalInputAction TerminalResizedAction TerminalTitleChangedAction TerminalCwdChangedAction
  TerminalExitedAction TerminalClearedAction TerminalCommandDetectionAvailableAction TerminalCommandExecutedAction
  TerminalCommandFinishedAction TerminalCommandPart TerminalUnclassifiedPart InvokeChangesetOperationParams
  ChangesetOperationTarget ChangesetFileRemovedAction ChangesetClearedAction RootActiveSessionsChangedAction
  RootConfigChangedAction SessionConfigChangedAction SessionMetaChangedAction SessionReadyAction
  SessionTitleChangedAction SessionIsReadChangedAction SessionIsArchivedChangedAction SessionActivityChangedAction
  SessionServerToolsChangedAction SessionCustomizationRemovedAction ToolDefinition ToolAnnotations ToolSchema
  ToolResultTextContent ToolResultEmbeddedResourceContent UsageInfo ProjectInfo AgentSelection Icon TextRange
  StringOrMarkdown CustomizationLoadState ProtectedResourceMetadata AuthRequiredErrorData OtlpExportLogsParams
  OtlpExportTracesParams OtlpExportMetricsParams TelemetryCapabilities SimpleMessageAttachment
  MessageEmbeddedResourceAttachment PendingMessageKind MarkdownResponsePart ReasoningResponsePart`.split(/\s+/);

const older: Readonly<Record<string, JsonSchema>> = Object.assign(
  {},
  ...[...frozenWires()].filter(([version]) => version < '1').map(([, { definitions }]) => definitions),
);
const { definitions } = livingWire(AHP_1_WIRE.schemas);

function withoutRequestMeta(schema: JsonSchema | undefined, name: string): JsonSchema | undefined {
  const { _meta, ...properties } = (schema?.properties ?? {}) as JsonSchema;
  return _meta && name.endsWith('Params') ? { ...schema, properties } : schema;
}

describe('since 0.2.0', () => {
  it.each(UNCHANGED)('[UP-236] %s is the same', (name) => {
    expect(older[name]).toBeDefined();
    expect(withoutRequestMeta(definitions[name], name)).toEqual(older[name]);
  });

  const FAMILY = Object.keys(older).filter((name) => name.startsWith('SessionInput'));

  it.each(FAMILY)('[UP-238] %s has another name and the same members', (name) => {
    const text = JSON.stringify(older[name]).replaceAll('SessionInput', 'ChatInput').replaceAll('session/', 'chat/');
    const renamed = JSON.parse(text);
    const found = definitions[name.replace('SessionInput', 'ChatInput')];
    const { anyOf } = found as { anyOf?: JsonSchema[] };
    const isOpened = name === 'SessionInputQuestion';
    expect(isOpened ? { ...found, anyOf: anyOf?.slice(0, -1) } : found).toEqual(renamed);
  });
});
