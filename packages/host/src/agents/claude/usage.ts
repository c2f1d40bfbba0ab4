/** Counts the tokens of a turn, step by step. */
import type { UsageInfo } from '@atrium/protocol';
import type { StepUsage } from './sdk-messages.js';

interface Spent {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

const NOTHING: Spent = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

export class UsageCount {
  #before: Spent = NOTHING;
  #step: Spent = NOTHING;

  /** A new step of the model begins. */
  begin(usage: StepUsage | undefined): void {
    this.#before = plus(this.#before, this.#step);
    this.#step = NOTHING;
    this.update(usage);
  }

  /** Later figures of a step replace earlier ones. */
  update(usage: StepUsage | undefined): void {
    const { input, output, cacheRead, cacheWrite } = this.#step;
    this.#step = {
      input: usage?.input_tokens ?? input,
      output: usage?.output_tokens ?? output,
      cacheRead: usage?.cache_read_input_tokens ?? cacheRead,
      cacheWrite: usage?.cache_creation_input_tokens ?? cacheWrite,
    };
  }

  /** Anthropic counts what it took from its cache, and what it put there, apart from the rest of the input. */
  info(model: string | undefined): UsageInfo {
    const { input, output, cacheRead, cacheWrite } = plus(this.#before, this.#step);
    return {
      inputTokens: input + cacheRead + cacheWrite,
      outputTokens: output,
      cacheReadTokens: cacheRead,
      ...(model !== undefined && { model }),
      _meta: { contextTokens: allOf(this.#step), ...(cacheWrite > 0 && { cacheWriteTokens: cacheWrite }) },
    };
  }
}

/** Every step sends the whole conversation, so one step alone says how large it is. */
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
