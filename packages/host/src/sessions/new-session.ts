/** The first state of a session. */
import { type CreateSessionParams, type SessionState, SessionStatus, type ToolDefinition } from '@atrium/protocol';
import type { AgentBackend } from '../agents/agent.js';
import type { Place } from '../worktrees/worktrees.js';
import type { Resolved } from './choices.js';

interface Origin {
  readonly backend: AgentBackend;
  readonly config: Resolved;
  readonly place: Place;
  readonly now: number;
  /** The host's own tools, as far as the agent uses them. */
  readonly tools: readonly ToolDefinition[];
}

export function newSessionState(
  params: CreateSessionParams,
  { backend, config, place, now, tools }: Origin,
): SessionState {
  const { channel, model, agent, activeClient } = params;
  return {
    summary: {
      resource: channel,
      provider: backend.info.provider,
      title: 'New session',
      status: SessionStatus.Idle,
      createdAt: now,
      modifiedAt: now,
      ...(model && { model }),
      ...(agent && { agent }),
      ...place,
    },
    lifecycle: 'creating',
    turns: [],
    ...(tools.length > 0 && { serverTools: [...tools] }),
    config,
    ...(activeClient && { activeClient }),
    ...(backend.info.customizations && { customizations: backend.info.customizations }),
  };
}
