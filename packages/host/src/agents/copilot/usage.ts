/** Counts the tokens of a turn, request by request. */
import type { UsageInfo } from '@atrium/protocol';
import type { SdkUsage } from './sdk-events.js';

export function plusUsage(spent: SdkUsage | undefined, more: SdkUsage): SdkUsage {
  return {
    model: more.model,
    inputTokens: sum(spent?.inputTokens, more.inputTokens),
    outputTokens: sum(spent?.outputTokens, more.outputTokens),
    cacheReadTokens: sum(spent?.cacheReadTokens, more.cacheReadTokens),
    cacheWriteTokens: sum(spent?.cacheWriteTokens, more.cacheWriteTokens),
    reasoningTokens: sum(spent?.reasoningTokens, more.reasoningTokens),
  };
}

/**
 * The runtime says zero where the server counted nothing: then there is nothing to tell. Every request sends the whole
 * conversation, so the last one says how large it is.
 */
export function usageInfo(spent: SdkUsage, last: SdkUsage): UsageInfo | undefined {
  const { model, inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = spent;
  const { reasoningTokens = 0 } = spent;
  if (inputTokens + outputTokens === 0) return undefined;
  return {
    inputTokens,
    outputTokens,
    cacheReadTokens,
    model,
    _meta: { cacheWriteTokens, reasoningTokens, contextTokens: sum(last.inputTokens, last.outputTokens) },
  };
}

function sum(before = 0, more = 0): number {
  return before + more;
}
