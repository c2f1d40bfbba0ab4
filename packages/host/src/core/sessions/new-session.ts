/** The first state of a session. */
import { type CreateSessionParams, type SessionState, SessionStatus, type ToolDefinition } from '@atrium/protocol';
import type { Place } from '../../workspace/worktrees/worktrees.js';
import type { AgentBackend } from '../contracts/agent.js';
import { TITLE_MAX_CHARACTERS } from '../limits.js';
import { shorten } from '../util/text.js';
import type { Resolved } from './choices.js';

interface Origin {
  readonly backend: AgentBackend;
  readonly config: Resolved;
  readonly place: Place;
  readonly now: number;
  /** Of a session that is not quite new. */
  readonly title?: string;
  /** The host's own tools, as far as the agent uses them. */
  readonly tools: readonly ToolDefinition[];
}

export function newSessionState(
  params: CreateSessionParams,
  { backend, config, place, now, tools, title = 'New session' }: Origin,
): SessionState {
  const { channel, model, agent, activeClient } = params;
  return {
    summary: {
      resource: channel,
      provider: backend.info.provider,
      title,
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

/** A fork is known by its source; a fork of a fork by its number. */
export function forkTitle(title: string): string {
  const [, name = title, number] = /^(.*) \(fork(?: (\d{1,6}))?\)$/s.exec(title) ?? [];
  const isFork = name !== title;
  const mark = isFork ? ` (fork ${Number(number ?? 1) + 1})` : ' (fork)';
  return `${shorten(name, TITLE_MAX_CHARACTERS - mark.length)}${mark}`;
}
