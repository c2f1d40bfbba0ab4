/**
 * Permission requests: what version 1 has in place of the pending states of a tool call. A request id names a call
 * and the question: `<call>#c2` is the second confirmation, `<call>#r` the approval of the result.
 */

import type { ToolCallState } from '../../session/tool-calls.js';
import type { ActiveTurn } from '../../session/turns.js';
import type { V1PermissionKind, V1PermissionRequest } from '../../versions/v1.js';
import { type ChannelMemory, NO_MEMORY, type Step } from '../dialect.js';
import { compact } from './compact.js';
import { pathFromFileUri } from './file-paths.js';
import { flatten } from './messages.js';
import { findToolCall, toolCallsOf } from './tool-calls.js';
import { toolServerOf } from './tool-owners.js';

export type PendingToolCall = Extract<
  ToolCallState,
  { status: 'pending-confirmation' } | { status: 'pending-result-confirmation' }
>;

const KINDS: ReadonlySet<unknown> = new Set<V1PermissionKind>(['shell', 'write', 'mcp', 'read', 'url']);

export function isPending(call: ToolCallState | undefined): call is PendingToolCall {
  return call?.status === 'pending-confirmation' || call?.status === 'pending-result-confirmation';
}

/** Takes note of a step: a new confirmation is counted, and everything is forgotten with its turn. */
export function remember(memory: ChannelMemory, { envelope, before, after }: Step): ChannelMemory {
  const turn = after?.activeTurn;
  if (!turn) return NO_MEMORY;
  const kept = memory.turnId === turn.id ? memory : { turnId: turn.id, confirmations: NO_MEMORY.confirmations };
  const { action } = envelope;
  if (action.type !== 'session/toolCallReady') return kept;
  const earlier = findToolCall(before?.activeTurn, action.toolCallId);
  const asks = findToolCall(turn, action.toolCallId)?.status === 'pending-confirmation';
  if (!asks || isPending(earlier)) return kept;
  const count = (kept.confirmations.get(action.toolCallId) ?? confirmationsBefore(earlier)) + 1;
  return { ...kept, confirmations: new Map([...kept.confirmations, [action.toolCallId, count]]) };
}

/** Without a memory the first confirmation is assumed: enough for a client that joins in the middle of a turn. */
export function confirmationId(memory: ChannelMemory, turnId: string, toolCallId: string): string {
  const count = memory.turnId === turnId ? memory.confirmations.get(toolCallId) : undefined;
  return `${toolCallId}#c${count ?? 1}`;
}

export function resultId(toolCallId: string): string {
  return `${toolCallId}#r`;
}

/** All requests of a turn that are open. */
export function pendingRequests(memory: ChannelMemory, turn: ActiveTurn): V1PermissionRequest[] {
  return toolCallsOf(turn)
    .filter(isPending)
    .map((call) => permissionRequest(memory, turn.id, call));
}

export function permissionRequest(memory: ChannelMemory, turnId: string, call: PendingToolCall): V1PermissionRequest {
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

/** A running call that a person once approved was asked about, though nobody here remembers. */
function confirmationsBefore(call: ToolCallState | undefined): number {
  return call?.status === 'running' && call.confirmed === 'user-action' ? 1 : 0;
}

function permissionKindOf(call: PendingToolCall): V1PermissionKind {
  const stated = call._meta?.permissionKind;
  if (isPermissionKind(stated)) return stated;
  if (toolServerOf(call._meta).serverName !== undefined) return 'mcp';
  return editsOf(call).length > 0 ? 'write' : 'shell';
}

function isPermissionKind(value: unknown): value is V1PermissionKind {
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
