/** What Claude, or one of its sub-agents, used in one turn. */
import type { AgentTurn } from '@atrium/core/contracts/agent.js';
import type { UsageDetails, UsageInfo } from '@atrium/protocol/ahp-1';
import type { ClaudeMessage, StepUsage } from './sdk.js';

interface Spent {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

const NOTHING: Spent = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/**
 * Claude reports each step of the model several times, with growing figures. So steps are kept by id, and later figures
 * replace earlier ones.
 */
export class ClaudeUsage {
  readonly #turn: AgentTurn;
  #model: string | undefined;
  readonly #isFlat: () => boolean;
  readonly #steps = new Map<string, Spent>();
  #retries = 0;
  #last = NOTHING;

  constructor(turn: AgentTurn, model: string | undefined, isFlat: () => boolean) {
    this.#turn = turn;
    this.#model = model;
    this.#isFlat = isFlat;
  }

  /** Sets the full name of the answering model: people choose it by a short one. */
  works(model: string | undefined): void {
    this.#model = model ?? this.#model;
  }

  /** Takes in the input of a new step. It is shown together with the figures at its end. */
  begun(stepId: string, usage: StepUsage | undefined): void {
    const before = this.#steps.get(stepId) ?? NOTHING;
    this.#last = {
      input: usage?.input_tokens ?? before.input,
      output: usage?.output_tokens ?? before.output,
      cacheRead: usage?.cache_read_input_tokens ?? before.cacheRead,
      cacheWrite: usage?.cache_creation_input_tokens ?? before.cacheWrite,
    };
    this.#steps.set(stepId, this.#last);
  }

  counted(stepId: string, usage: StepUsage | undefined): void {
    this.begun(stepId, usage);
    this.#turn.usage(this.#info());
  }

  /** Takes in a message of a sub-agent. */
  took({ type, message }: ClaudeMessage): void {
    if (type !== 'assistant' || !message?.id || !message.usage) return;
    this.works(message.model);
    this.counted(message.id, message.usage);
  }

  /** Counts a failed request that is sent again. */
  retried(): void {
    this.#retries += 1;
  }

  /**
   * The total. Anthropic counts what was read from its cache, and written to it, separately from the rest of the input.
   */
  #info(): UsageInfo {
    const { input, output, cacheRead, cacheWrite } = [...this.#steps.values()].reduce(plus, NOTHING);
    const details: UsageDetails = {
      contextTokens: allOf(this.#last),
      ...(cacheWrite > 0 && { cacheWriteTokens: cacheWrite }),
      requests: this.#steps.size + this.#retries,
      ...(this.#isFlat() && { plan: 'flat' }),
    };
    return {
      inputTokens: input + cacheRead + cacheWrite,
      outputTokens: output,
      cacheReadTokens: cacheRead,
      ...(this.#model !== undefined && { model: this.#model }),
      _meta: { ...details },
    };
  }
}

/** The size of the conversation: every step sends all of it, so one step shows it. */
function allOf({ input, output, cacheRead, cacheWrite }: Spent): number {
  return input + output + cacheRead + cacheWrite;
}

function plus(a: Spent, b: Spent): Spent {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
  };
}
