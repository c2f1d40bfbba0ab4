/** Shows the events of one agent in one turn: those of Copilot itself, or those of a sub-agent in its chat. */
import type { AgentTurn } from '@atrium/core/contracts/agent.js';
import type { UsageDetails, UsageInfo } from '@atrium/protocol/ahp-1';
import type { SdkEvent, SdkUsage } from './sdk.js';
import { type HostTools, TurnCalls } from './tools.js';

export class AgentEvents {
  readonly turn: AgentTurn;
  readonly calls: TurnCalls;
  readonly #usage: UsageCount;

  /** The usage of a sub-agent without a chat counts for the agent that started it. */
  constructor(
    turn: AgentTurn,
    { tools, isFlat }: { readonly tools: HostTools; readonly isFlat: boolean },
    starter?: AgentEvents,
  ) {
    this.turn = turn;
    this.calls = new TurnCalls(turn, tools);
    this.#usage = starter ? starter.#usage : new UsageCount(turn, isFlat);
  }

  /** Shows what the agent says. */
  show(event: SdkEvent): void {
    if (event.type === 'assistant.message_delta') this.turn.text(event.data.deltaContent);
    else if (event.type === 'assistant.reasoning_delta') this.turn.reasoning(event.data.deltaContent);
    else if (event.type === 'assistant.intent') this.turn.activity(event.data.intent);
  }

  /** Shows what the agent does. */
  work(event: SdkEvent): void {
    if (event.type === 'assistant.usage') this.#usage.add(event.data);
    else if (event.type === 'model.call_failure') this.#usage.failed();
    this.calls.take(event);
  }
}

class UsageCount {
  readonly #turn: AgentTurn;
  #spent: SdkUsage | undefined;
  #requests = 0;

  constructor(
    turn: AgentTurn,
    private readonly isFlat: boolean,
  ) {
    this.#turn = turn;
  }

  /** Counts a failed request. */
  failed(): void {
    this.#requests += 1;
  }

  add(usage: SdkUsage): void {
    this.#spent = plusUsage(this.#spent, usage);
    this.#requests += 1;
    const more = { requests: this.#requests, ...(this.isFlat && { plan: 'flat' as const }) };
    const info = usageInfo(this.#spent, usage, more);
    if (info) this.#turn.usage(info);
  }
}

function plusUsage(spent: SdkUsage | undefined, more: SdkUsage): SdkUsage {
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
 * Usage for clients; undefined when the server counted nothing, for which the runtime says zero. Every request sends
 * the whole conversation, so the last one shows how large it is.
 */
function usageInfo(spent: SdkUsage, last: SdkUsage, more: UsageDetails): UsageInfo | undefined {
  const { model, inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = spent;
  const { reasoningTokens = 0 } = spent;
  if (inputTokens + outputTokens === 0) return undefined;
  return {
    inputTokens,
    outputTokens,
    cacheReadTokens,
    model,
    _meta: { cacheWriteTokens, reasoningTokens, contextTokens: sum(last.inputTokens, last.outputTokens), ...more },
  };
}

function sum(before = 0, more = 0): number {
  return before + more;
}
