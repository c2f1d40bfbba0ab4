/** Tokens: of a turn, and how much of the model's window is filled. */
import type { AgentInfo, SessionState, UsageInfo } from '@atrium/protocol';
import { short } from './format.js';

export function usageText({ inputTokens, outputTokens, model }: UsageInfo): string {
  const counts = [
    inputTokens !== undefined && `${short(inputTokens)} in`,
    outputTokens !== undefined && `${short(outputTokens)} out`,
    model,
  ];
  return counts.filter(Boolean).join(' · ');
}

interface ContextUse {
  readonly used: number;
  readonly size: number | undefined;
}

export function lastUsage(state: Pick<SessionState, 'activeTurn' | 'turns'>): UsageInfo | undefined {
  return state.activeTurn?.usage ?? state.turns.findLast((turn) => turn.usage)?.usage;
}

export function contextUse(state: SessionState, agents: readonly AgentInfo[]): ContextUse | undefined {
  const usage = lastUsage(state);
  const used = usage && contextTokens(usage);
  if (used === undefined) return undefined;
  const models = agents.find(({ provider }) => provider === state.summary.provider)?.models;
  const named = usage?.model ?? state.summary.model?.id;
  const model = models?.find(({ id }) => id === named) ?? models?.find(({ id }) => id === state.summary.model?.id);
  return { used, size: model?.maxContextWindow };
}

/**
 * A turn of many steps sends the conversation once per step, and its input counts all of them. What fills the window is
 * the last step alone, which agents of this host tell apart; for others the whole is the best that is known.
 */
function contextTokens({ inputTokens, outputTokens, _meta }: UsageInfo): number | undefined {
  const context = _meta?.contextTokens;
  if (typeof context === 'number' && Number.isFinite(context) && context >= 0) return context;
  return inputTokens === undefined ? undefined : inputTokens + (outputTokens ?? 0);
}
