/** What requests used, in the form that clients and the host's accounts read. */
import type { UsageDetails, UsageInfo } from '@atrium/protocol/ahp-1';
import type { AnswerUsage } from './request.js';

/**
 * Leaves out what the server did not count. Every step sends the whole conversation, so the last one shows its size.
 */
export function usageInfo(
  { input, output, cacheRead, cacheWrite, reasoning }: AnswerUsage,
  model: string,
  { context, requests }: { readonly context?: number | undefined; readonly requests: number },
): UsageInfo {
  const details: UsageDetails = {
    ...(cacheWrite !== undefined && { cacheWriteTokens: cacheWrite }),
    ...(reasoning !== undefined && { reasoningTokens: reasoning }),
    ...(context !== undefined && { contextTokens: context }),
    requests,
  };
  return {
    ...(input !== undefined && { inputTokens: input }),
    ...(output !== undefined && { outputTokens: output }),
    ...(cacheRead !== undefined && { cacheReadTokens: cacheRead }),
    model,
    _meta: { ...details },
  };
}
