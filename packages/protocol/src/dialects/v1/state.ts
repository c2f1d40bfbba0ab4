/** State as version 1 shows it: agents, and sessions with turns. Everything else has no place there. */
import { channelKind } from '../../channels.js';
import type { Snapshot } from '../../common/envelope.js';
import type { AgentInfo, RootState, SessionModelInfo } from '../../root/state.js';
import type { SessionState, SessionSummary } from '../../session/state.js';
import { SessionStatus } from '../../session/status.js';
import type {
  V1AgentInfo,
  V1ModelInfo,
  V1RootState,
  V1RootUri,
  V1SessionState,
  V1SessionSummary,
  V1Snapshot,
} from '../../versions/v1.js';
import { type ChannelMemory, NO_MEMORY } from '../dialect.js';
import { compact } from './compact.js';
import { activeTurnToV1, turnToV1 } from './turns.js';
import { DEFAULT_ROOT_URI, sessionToV1 } from './uris.js';

export interface SnapshotContext {
  readonly rootUri?: V1RootUri;
  readonly memory?: ChannelMemory;
}

/** Undefined for the channels that version 1 does not have. */
export function snapshotToV1(snapshot: Snapshot, { rootUri, memory }: SnapshotContext): V1Snapshot | undefined {
  const { resource, fromSeq } = snapshot;
  const kind = channelKind(resource);
  if (kind === 'root') {
    return { resource: rootUri ?? DEFAULT_ROOT_URI, state: rootToV1(snapshot.state as RootState), fromSeq };
  }
  if (kind !== 'session') return undefined;
  const state = snapshot.state as SessionState;
  return { resource: sessionToV1(resource, state.summary.provider), state: sessionStateToV1(state, memory), fromSeq };
}

export function rootToV1({ agents }: RootState): V1RootState {
  return { agents: agents.map(agentToV1) };
}

export function agentToV1({ provider, displayName, description, models }: AgentInfo): V1AgentInfo {
  return { provider, displayName, description, models: models.map(modelToV1) };
}

export function sessionStateToV1(state: SessionState, memory: ChannelMemory = NO_MEMORY): V1SessionState {
  return compact({
    summary: summaryToV1(state.summary),
    lifecycle: state.lifecycle,
    creationError: state.creationError,
    turns: state.turns.map(turnToV1),
    activeTurn: state.activeTurn && activeTurnToV1(state.activeTurn, memory),
  });
}

export function summaryToV1(summary: SessionSummary): V1SessionSummary {
  const { resource, provider, title, status, createdAt, modifiedAt, model } = summary;
  return compact({
    resource: sessionToV1(resource, provider),
    provider,
    title,
    status: statusToV1(status),
    createdAt,
    modifiedAt,
    model: model?.id,
  });
}

function modelToV1({ configSchema, _meta, ...model }: SessionModelInfo): V1ModelInfo {
  return model;
}

function statusToV1(status: number): V1SessionSummary['status'] {
  if (status & SessionStatus.InProgress) return 'in-progress';
  return status & SessionStatus.Error ? 'error' : 'idle';
}
