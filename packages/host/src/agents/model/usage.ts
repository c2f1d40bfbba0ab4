/** Counts the tokens of a turn, step by step. */
import type { UsageInfo } from '@atrium/protocol';
import type { LanguageModelUsage } from 'ai';
import type { AgentTurn } from '../../core/contracts/agent.js';

interface Spent {
  readonly input: number | undefined;
  readonly output: number | undefined;
  readonly cacheRead: number | undefined;
  readonly reasoning: number | undefined;
}

const NOTHING_SPENT: Spent = { input: undefined, output: undefined, cacheRead: undefined, reasoning: undefined };

/** The tokens of one turn so far. People see each change. */
export class TurnUsage {
  readonly #turn: AgentTurn;
  #spent = NOTHING_SPENT;

  constructor(turn: AgentTurn) {
    this.#turn = turn;
  }

  /** After a request; a server that does not count adds nothing. */
  add(usage: LanguageModelUsage | undefined, modelId: string): void {
    if (!usage) return;
    this.#spent = plusUsage(this.#spent, usage);
    this.#turn.usage(usageInfo(this.#spent, modelId, sum(usage.inputTokens, usage.outputTokens)));
  }
}

function plusUsage(spent: Spent, usage: LanguageModelUsage): Spent {
  return {
    input: sum(spent.input, usage.inputTokens),
    output: sum(spent.output, usage.outputTokens),
    cacheRead: sum(spent.cacheRead, usage.inputTokenDetails.cacheReadTokens),
    reasoning: sum(spent.reasoning, usage.outputTokenDetails.reasoningTokens),
  };
}

/** What nobody counted stays absent: it is not zero. Every step sends the conversation; the last one is its size. */
function usageInfo({ input, output, cacheRead, reasoning }: Spent, model: string, context?: number): UsageInfo {
  const more = {
    ...(reasoning !== undefined && { reasoningTokens: reasoning }),
    ...(context !== undefined && { contextTokens: context }),
  };
  return {
    ...(input !== undefined && { inputTokens: input }),
    ...(output !== undefined && { outputTokens: output }),
    ...(cacheRead !== undefined && { cacheReadTokens: cacheRead }),
    model,
    ...(Object.keys(more).length > 0 && { _meta: more }),
  };
}

function sum(before: number | undefined, more: number | undefined): number | undefined {
  return before === undefined && more === undefined ? undefined : (before ?? 0) + (more ?? 0);
}
