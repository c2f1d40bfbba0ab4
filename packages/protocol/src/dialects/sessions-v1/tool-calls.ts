/** Tool calls as sessions-v1 shows them: no streaming, texts without markup, output as one string. */

import type { StringOrMarkdown } from '../../common/types.js';
import { findCall, openParts } from '../../parts.js';
import type { ToolCallResult, ToolCallState } from '../../session/tool-calls.js';
import type { ActiveTurn } from '../../session/turns.js';
import { type ChannelMemory, NO_MEMORY, type Step } from '../dialect-0.3.js';
import { compact, flatten, pathFromFileUri, toolServerOf } from './messages.js';
import { SESSIONS_V1 } from './traits.js';
import type {
  SessionsV1CompletedToolCall,
  SessionsV1PermissionKind,
  SessionsV1PermissionRequest,
  SessionsV1ToolCallBase,
  SessionsV1ToolCallResult,
  SessionsV1ToolCallState,
  SessionsV1ToolCallStatus,
} from './wire.js';

/** A call whose parameters are complete. Sessions-v1 does not show a call before that. */
export type ShownToolCall = Exclude<ToolCallState, { status: 'streaming' }>;

export function isShown(call: ToolCallState | undefined): call is ShownToolCall {
  return call !== undefined && call.status !== 'streaming';
}

export function findToolCall(turn: ActiveTurn | undefined, toolCallId: string): ToolCallState | undefined {
  return turn && findCall(turn, toolCallId);
}

export function toolCallsOf(turn: Pick<ActiveTurn, 'responseParts'>): ToolCallState[] {
  return turn.responseParts.flatMap((part) => (part.kind === 'toolCall' ? [part.toolCall] : []));
}

export function toolCallToWire(call: ShownToolCall): SessionsV1ToolCallState {
  const denial = denialOf(call);
  if (denial) {
    const { success, ...members } = denial;
    return { ...base(call), status: 'failed', ...members };
  }
  const result = 'success' in call ? resultMembers(call) : {};
  return compact({
    ...base(call),
    status: statusToWire(call),
    confirmed: 'confirmed' in call ? call.confirmed : undefined,
    ...result,
    cancellationReason: call.status === 'cancelled' ? call.reason : undefined,
  });
}

/** A call of a finished turn. A cancelled one counts as failed, and only its invocation message is left to show. */
export function completedToolCallToWire(call: ShownToolCall): SessionsV1CompletedToolCall {
  if (call.status === 'completed') return { ...base(call), ...resultToWire(call) };
  const denial = denialOf(call);
  return denial
    ? { ...base(call), ...denial }
    : { ...base(call), success: false, pastTenseMessage: flatten(call.invocationMessage) };
}

/** A denial with a reason becomes a result: sessions-v1 has no other place for the reason. */
function denialOf(call: ShownToolCall): SessionsV1ToolCallResult | undefined {
  return call.status === 'cancelled' && call.reason === 'denied' ? denialToWire(call.reasonMessage) : undefined;
}

export function denialToWire(reason: StringOrMarkdown | undefined): SessionsV1ToolCallResult | undefined {
  if (reason === undefined) return undefined;
  const message = flatten(reason);
  const pastTenseMessage = NAMES_ITS_SOURCE.test(message) ? `Blocked by ${message}` : message;
  return { success: false, pastTenseMessage, error: { code: 'denied', message } };
}

/** The host puts the source in front of a reason: "ci-watcher: CI is failing". */
const NAMES_ITS_SOURCE = /^[A-Za-z0-9][\w.-]*: /;

export function resultToWire(result: ToolCallResult): SessionsV1ToolCallResult {
  return compact({ success: result.success, ...resultMembers(result) });
}

function resultMembers({ pastTenseMessage, content, error }: ToolCallResult) {
  return { pastTenseMessage: flatten(pastTenseMessage), toolOutput: toolOutput(content), error };
}

function toolOutput(content: ToolCallResult['content']): string | undefined {
  const texts = (content ?? []).flatMap((block) => (block.type === 'text' ? [block.text] : []));
  return texts.length > 0 ? texts.join('\n') : undefined;
}

function base({
  toolCallId,
  toolName,
  displayName,
  invocationMessage,
  toolInput,
}: ShownToolCall): SessionsV1ToolCallBase {
  return compact({ toolCallId, toolName, displayName, invocationMessage: flatten(invocationMessage), toolInput });
}

function statusToWire(call: ShownToolCall): SessionsV1ToolCallStatus {
  if (call.status === 'completed') return call.success ? 'completed' : 'failed';
  return call.status === 'running' || call.status === 'cancelled' ? call.status : 'pending-permission';
}

// Permission requests, which this wire has instead of pending states of a tool call. A request id names a call and the
// question: `<call>#c2` is the second confirmation, `<call>#r` the approval of the result.

export type PendingToolCall = Extract<
  ToolCallState,
  { status: 'pending-confirmation' } | { status: 'pending-result-confirmation' }
>;

const KINDS: ReadonlySet<unknown> = new Set<SessionsV1PermissionKind>(['shell', 'write', 'mcp', 'read', 'url']);

export function isPending(call: ToolCallState | undefined): call is PendingToolCall {
  return call?.status === 'pending-confirmation' || call?.status === 'pending-result-confirmation';
}

/** The confirmations that each call of a turn has asked for. */
interface Confirmations {
  readonly turnId: string;
  readonly counts: ReadonlyMap<string, number>;
}

const { version: OWN } = SESSIONS_V1;

/** A memory that holds these confirmations. */
export function memoryWith(confirmations: Confirmations): ChannelMemory {
  return { [OWN]: confirmations };
}

/** The confirmations of a turn, as far as the memory knows them. */
export function confirmationsIn(memory: ChannelMemory, turnId: string): ReadonlyMap<string, number> | undefined {
  const own = memory[OWN] as Confirmations | undefined;
  return own?.turnId === turnId ? own.counts : undefined;
}

/** Actions inside a turn that ask for no confirmation. */
const WITHIN_TURN: ReadonlySet<string> = new Set([
  'session/responsePart',
  'session/toolCallStart',
  'session/toolCallDelta',
  'session/toolCallConfirmed',
  'session/toolCallComplete',
  'session/toolCallContentChanged',
  'session/toolCallResultConfirmed',
  'session/usage',
]);

/**
 * True when a step leaves the memory of a running turn unchanged. Looking at its states would mean translating them.
 */
function changesNothing({ action }: Step['envelope']): boolean {
  return WITHIN_TURN.has(action.type) || (action.type === 'session/toolCallReady' && action.confirmed !== undefined);
}

/** The memory after a step: counts a new confirmation, and starts empty with each turn. */
export function remember(memory: ChannelMemory, step: Step): ChannelMemory {
  const { envelope } = step;
  if (OWN in memory && changesNothing(envelope)) return memory;
  const { before, after } = step;
  const turn = after?.activeTurn;
  if (!turn) return forgetting(memory);
  const known = confirmationsIn(memory, turn.id);
  const counts = known ?? new Map<string, number>();
  const kept = known ? memory : { ...memory, ...memoryWith({ turnId: turn.id, counts }) };
  const { action } = envelope;
  if (action.type !== 'session/toolCallReady') return kept;
  const earlier = findToolCall(before?.activeTurn, action.toolCallId);
  const asks = findToolCall(turn, action.toolCallId)?.status === 'pending-confirmation';
  if (!asks || isPending(earlier)) return kept;
  const count = (counts.get(action.toolCallId) ?? confirmationsBefore(earlier)) + 1;
  return { ...memory, ...memoryWith({ turnId: turn.id, counts: new Map([...counts, [action.toolCallId, count]]) }) };
}

function forgetting(memory: ChannelMemory): ChannelMemory {
  if (!(OWN in memory)) return memory;
  const { [OWN]: _own, ...others } = memory;
  return Object.keys(others).length === 0 ? NO_MEMORY : others;
}

/**
 * The id of the present confirmation. Without a memory, the first one is assumed: enough for a client that joins in the
 * middle of a turn.
 */
export function confirmationId(memory: ChannelMemory, turnId: string, toolCallId: string): string {
  return `${toolCallId}#c${confirmationsIn(memory, turnId)?.get(toolCallId) ?? 1}`;
}

export function resultId(toolCallId: string): string {
  return `${toolCallId}#r`;
}

/** All open requests of a turn. */
export function pendingRequests(memory: ChannelMemory, turn: ActiveTurn): SessionsV1PermissionRequest[] {
  const requests: SessionsV1PermissionRequest[] = [];
  for (const part of openParts(turn)) {
    const call = part.kind === 'toolCall' ? part.toolCall : undefined;
    if (isPending(call)) requests.push(permissionRequest(memory, turn.id, call));
  }
  return requests;
}

export function permissionRequest(
  memory: ChannelMemory,
  turnId: string,
  call: PendingToolCall,
): SessionsV1PermissionRequest {
  const { toolCallId, toolName, toolInput } = call;
  const isResult = call.status === 'pending-result-confirmation';
  const permissionKind = permissionKindOf(call);
  const server = toolServerOf(call._meta);
  return compact({
    requestId: isResult ? resultId(toolCallId) : confirmationId(memory, turnId, toolCallId),
    permissionKind,
    toolCallId,
    toolName: server.toolName ?? toolName,
    intention: flatten((isResult ? undefined : call.confirmationTitle) ?? call.invocationMessage),
    fullCommandText: permissionKind === 'shell' ? toolInput : undefined,
    path: firstEditedPath(call),
    serverName: server.serverName,
  });
}

/** A running call that a person approved was confirmed once, even if the memory does not know it. */
function confirmationsBefore(call: ToolCallState | undefined): number {
  return call?.status === 'running' && call.confirmed === 'user-action' ? 1 : 0;
}

function permissionKindOf(call: PendingToolCall): SessionsV1PermissionKind {
  const stated = call._meta?.permissionKind;
  if (isPermissionKind(stated)) return stated;
  if (toolServerOf(call._meta).serverName !== undefined) return 'mcp';
  return editsOf(call).length > 0 ? 'write' : 'shell';
}

function isPermissionKind(value: unknown): value is SessionsV1PermissionKind {
  return KINDS.has(value);
}

function editsOf(call: PendingToolCall) {
  return call.status === 'pending-confirmation' ? (call.edits?.items ?? []) : [];
}

function firstEditedPath(call: PendingToolCall): string | undefined {
  const [edit] = editsOf(call);
  const uri = edit?.after?.uri ?? edit?.before?.uri;
  return uri === undefined ? undefined : (pathFromFileUri(uri) ?? uri);
}
