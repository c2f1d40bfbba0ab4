/** Tokens: of a turn, of the session, and how much of the model's window the last turn filled. */
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

export interface ContextUse {
  readonly used: number;
  readonly size: number | undefined;
}

export function contextUse(state: SessionState, agents: readonly AgentInfo[]): ContextUse | undefined {
  const usage = state.activeTurn?.usage ?? state.turns.findLast((turn) => turn.usage)?.usage;
  if (usage?.inputTokens === undefined) return undefined;
  const models = agents.find(({ provider }) => provider === state.summary.provider)?.models;
  const named = usage.model ?? state.summary.model?.id;
  const model = models?.find(({ id }) => id === named) ?? models?.find(({ id }) => id === state.summary.model?.id);
  return { used: usage.inputTokens + (usage.outputTokens ?? 0), size: model?.maxContextWindow };
}
