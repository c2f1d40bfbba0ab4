/** The first state of a session. */
import {
  type CreateSessionParams,
  type SessionConfigSchema,
  type SessionState,
  SessionStatus,
  type ToolDefinition,
} from '@atrium/protocol';
import type { AgentBackend } from '../agents/agent.js';

/** What every session can be configured with. */
export const sessionConfigSchema: SessionConfigSchema = {
  type: 'object',
  properties: {
    autoApprove: {
      type: 'boolean',
      title: 'Run tools without asking',
      description: 'Tools that would ask a person first just run.',
      default: false,
      sessionMutable: true,
    },
  },
};

interface Origin {
  readonly backend: AgentBackend;
  readonly config: Record<string, unknown>;
  readonly now: number;
  /** The host's own tools, as far as the agent uses them. */
  readonly tools: readonly ToolDefinition[];
}

export function newSessionState(params: CreateSessionParams, { backend, config, now, tools }: Origin): SessionState {
  const { channel, model, agent, workingDirectory, activeClient } = params;
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
      ...(workingDirectory && { workingDirectory }),
    },
    lifecycle: 'creating',
    turns: [],
    ...(tools.length > 0 && { serverTools: [...tools] }),
    config: { schema: sessionConfigSchema, values: config },
    ...(activeClient && { activeClient }),
    ...(backend.info.customizations && { customizations: backend.info.customizations }),
  };
}
