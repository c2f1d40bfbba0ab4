/** Tokens: of a turn, and how much of the model's window is filled. */
import type { Client } from '@atrium/client';
import type { AgentInfo, ChatState, UsageGroup, UsageInfo, UsageReport } from '@atrium/protocol/ahp-1';
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

export function lastUsage(state: Pick<ChatState, 'activeTurn' | 'turns'>): UsageInfo | undefined {
  return state.activeTurn?.usage ?? state.turns.findLast((turn) => turn.usage)?.usage;
}

interface Asked {
  readonly provider: string;
  readonly chat: Pick<ChatState, 'activeTurn' | 'turns'>;
  /** The chosen model, for a usage that names none. */
  readonly model: string | undefined;
}

export function contextUse({ provider, chat, model }: Asked, agents: readonly AgentInfo[]): ContextUse | undefined {
  const usage = lastUsage(chat);
  const used = usage && contextTokens(usage);
  if (used === undefined) return undefined;
  const models = agents.find((agent) => agent.provider === provider)?.models;
  const found = models?.find(({ id }) => id === (usage?.model ?? model)) ?? models?.find(({ id }) => id === model);
  return { used, size: found?.maxContextWindow };
}

/**
 * A turn of many steps sends the conversation once per step, and its input counts all of them. Only the last step fills
 * the
 * window. Atrium's agents report it separately; for others the whole input is the best estimate.
 */
function contextTokens({ inputTokens, outputTokens, _meta }: UsageInfo): number | undefined {
  const context = _meta?.contextTokens;
  if (typeof context === 'number' && Number.isFinite(context) && context >= 0) return context;
  return inputTokens === undefined ? undefined : inputTokens + (outputTokens ?? 0);
}

interface UsageQuestion {
  readonly by: UsageGroup;
  readonly days?: number;
  /** Only this session, over all time. */
  readonly session?: string;
}

/** Reads the host's usage report. */
export async function readUsage(client: Client, question: UsageQuestion): Promise<UsageReport> {
  const report = (await client.requestExtension('atrium/usage', question)) as Partial<UsageReport> | null;
  if (!Array.isArray(report?.entries) || !report.total) throw new Error('The host answered no report of usage.');
  return report as UsageReport;
}
