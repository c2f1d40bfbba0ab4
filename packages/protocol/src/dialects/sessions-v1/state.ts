/** State as this wire shows it: agents, and sessions with turns. It has nothing else. */

import { channelKind } from '../../channels.js';
import type { Snapshot } from '../../common/envelope.js';
import type { AgentInfo, RootState, SessionModelInfo } from '../../root/state.js';
import type { SessionState, SessionSummary } from '../../session/state.js';
import { SessionStatus } from '../../session/status.js';
import type { ActiveTurn, ResponsePart, Turn } from '../../session/turns.js';
import { type ChannelMemory, NO_MEMORY } from '../dialect-0.3.js';
import { compact, contentRefToWire, flatten, messageToWire, usageToWire } from './messages.js';
import { completedToolCallToWire, isShown, pendingRequests, toolCallsOf, toolCallToWire } from './tool-calls.js';
import { DEFAULT_ROOT_URI, sessionToWire } from './uris.js';
import type {
  SessionsV1ActiveTurn,
  SessionsV1AgentInfo,
  SessionsV1ModelInfo,
  SessionsV1ResponsePart,
  SessionsV1RootState,
  SessionsV1RootUri,
  SessionsV1SessionState,
  SessionsV1SessionSummary,
  SessionsV1Snapshot,
  SessionsV1Turn,
} from './wire.js';

interface SnapshotContext {
  readonly rootUri?: SessionsV1RootUri;
  readonly memory?: ChannelMemory;
}

/** Undefined for channels that sessions-v1 lacks. */
export function snapshotToWire(
  snapshot: Snapshot,
  { rootUri, memory }: SnapshotContext,
): SessionsV1Snapshot | undefined {
  const { resource, fromSeq } = snapshot;
  const kind = channelKind(resource);
  if (kind === 'root') {
    return { resource: rootUri ?? DEFAULT_ROOT_URI, state: rootToWire(snapshot.state as RootState), fromSeq };
  }
  if (kind !== 'session') return undefined;
  const state = snapshot.state as SessionState;
  return {
    resource: sessionToWire(resource, state.summary.provider),
    state: sessionStateToWire(state, memory),
    fromSeq,
  };
}

export function rootToWire({ agents }: RootState): SessionsV1RootState {
  return { agents: agents.map(agentToWire) };
}

export function agentToWire({ provider, displayName, description, models }: AgentInfo): SessionsV1AgentInfo {
  return { provider, displayName, description, models: models.map(modelToWire) };
}

export function sessionStateToWire(state: SessionState, memory: ChannelMemory = NO_MEMORY): SessionsV1SessionState {
  return compact({
    summary: summaryToWire(state.summary),
    lifecycle: state.lifecycle,
    creationError: state.creationError,
    turns: state.turns.map(turnToWire),
    activeTurn: state.activeTurn && activeTurnToWire(state.activeTurn, memory),
  });
}

export function summaryToWire(summary: SessionSummary): SessionsV1SessionSummary {
  const { resource, provider, title, status, createdAt, modifiedAt, model } = summary;
  return compact({
    resource: sessionToWire(resource, provider),
    provider,
    title,
    status: statusToWire(status),
    createdAt,
    modifiedAt,
    model: model?.id,
  });
}

function modelToWire({ configSchema, _meta, ...model }: SessionModelInfo): SessionsV1ModelInfo {
  return model;
}

function statusToWire(status: number): SessionsV1SessionSummary['status'] {
  if (status & SessionStatus.InProgress) return 'in-progress';
  return status & SessionStatus.Error ? 'error' : 'idle';
}

// Turns: one string of text, one of reasoning, and tool calls beside them.

export function turnToWire(turn: Turn): SessionsV1Turn {
  return compact({
    id: turn.id,
    userMessage: messageToWire(turn.userMessage),
    responseParts: turn.responseParts.flatMap(finishedPartToWire),
    responseText: textOf(turn.responseParts, 'markdown'),
    toolCalls: toolCallsOf(turn).filter(isShown).map(completedToolCallToWire),
    usage: turn.usage && usageToWire(turn.usage),
    state: turn.state,
    error: turn.error,
  });
}

function activeTurnToWire(turn: ActiveTurn, memory: ChannelMemory): SessionsV1ActiveTurn {
  const calls = toolCallsOf(turn).filter(isShown);
  const requests = pendingRequests(memory, turn);
  return compact({
    id: turn.id,
    userMessage: messageToWire(turn.userMessage),
    streamingText: textOf(turn.responseParts, 'markdown'),
    responseParts: turn.responseParts.flatMap(structuredPartToWire),
    toolCalls: Object.fromEntries(calls.map((call) => [call.toolCallId, toolCallToWire(call)])),
    pendingPermissions: Object.fromEntries(requests.map((request) => [request.requestId, request])),
    reasoning: textOf(turn.responseParts, 'reasoning'),
    usage: turn.usage && usageToWire(turn.usage),
  });
}

/** Parts that sessions-v1 lists beside the text while a turn runs. It shows a note of the host as a text part. */
export function structuredPartToWire(part: ResponsePart): SessionsV1ResponsePart[] {
  if (part.kind === 'contentRef') return [contentRefToWire(part)];
  return part.kind === 'systemNotification' ? [{ kind: 'markdown', content: flatten(part.content) }] : [];
}

/** A finished turn has no member for streamed text, so the text is listed among the parts. */
function finishedPartToWire(part: ResponsePart): SessionsV1ResponsePart[] {
  return part.kind === 'markdown' ? [{ kind: 'markdown', content: part.content }] : structuredPartToWire(part);
}

/**
 * Joins the text of parts. Unlike `join`, it does not copy the text of a turn with only one such part: most have one,
 * and it can be large.
 */
function textOf(parts: readonly ResponsePart[], kind: 'markdown' | 'reasoning'): string {
  return parts.reduce((text, part) => (part.kind === kind ? text + part.content : text), '');
}
