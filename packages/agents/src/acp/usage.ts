/**
 * What an agent used in a turn. In the protocol, agents count over their whole session, so a turn used the difference
 * to the last count. Some agents count each turn from zero instead; they are recognised when a count falls.
 */
import type { AgentMemory, AgentTurn } from '@atrium/core/contracts/agent.js';
import { isRecord } from '@atrium/core/util/shape.js';
import type { UsageDetails } from '@atrium/protocol/ahp-1';

/** Counts as an agent reports them; input includes what was read from a cache and written to it. */
interface Reported {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly reasoning: number;
}

/** The stored counts of an agent's session, next to its id. */
interface StoredUsage {
  readonly last?: Reported;
  readonly countsTurns?: true;
  readonly costUsd?: number;
}

const NOTHING: Reported = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 };

export class AcpUsage {
  readonly #memory: AgentMemory;
  #turn: AgentTurn | undefined;
  #model: string | undefined;
  #details: UsageDetails = {};
  #tokens: Reported | undefined;

  constructor(memory: AgentMemory) {
    this.#memory = memory;
  }

  /** Called when a turn begins. */
  begin(turn: AgentTurn): void {
    this.#turn = turn;
    this.#model = undefined;
    this.#details = {};
    this.#tokens = undefined;
  }

  /** Sets the model that the agent says it uses. */
  works(model: string | undefined): void {
    this.#model = model;
  }

  /** Takes in how full the agent's window is, and what its session has cost so far. */
  updated({ used, cost }: Record<string, unknown>): void {
    if (isCount(used)) this.#details = { ...this.#details, contextTokens: used };
    if (isRecord(cost) && cost.currency === 'USD' && isCount(cost.amount)) this.#cost(cost.amount);
    this.#report();
  }

  #cost(amount: number): void {
    const { costUsd: before = 0 } = this.#stored;
    const more = amount >= before ? amount - before : amount;
    this.#details = { ...this.#details, costUsd: (this.#details.costUsd ?? 0) + more };
    this.#keep({ costUsd: amount });
  }

  /** Called when the turn is over. */
  ended(usage: Record<string, unknown>): void {
    const now = reportedIn(usage);
    const { last = NOTHING, countsTurns } = this.#stored;
    const hasFallen = (Object.keys(now) as (keyof Reported)[]).some((name) => now[name] < last[name]);
    const isTurnsOwn = countsTurns || hasFallen;
    this.#tokens = isTurnsOwn ? now : difference(now, last);
    this.#keep({ last: now, ...(isTurnsOwn && { countsTurns: true }) });
    this.#report();
  }

  #report(): void {
    const { input, output, cacheRead, cacheWrite = 0, reasoning = 0 } = this.#tokens ?? {};
    const details: UsageDetails = {
      ...this.#details,
      ...(cacheWrite > 0 && { cacheWriteTokens: cacheWrite }),
      ...(reasoning > 0 && { reasoningTokens: reasoning }),
    };
    this.#turn?.usage({
      ...(input !== undefined && { inputTokens: input }),
      ...(output !== undefined && { outputTokens: output }),
      ...(cacheRead !== undefined && { cacheReadTokens: cacheRead }),
      ...(this.#model !== undefined && { model: this.#model }),
      ...(Object.keys(details).length > 0 && { _meta: { ...details } }),
    });
  }

  get #stored(): StoredUsage {
    const memory = this.#memory.get();
    return isRecord(memory) && isRecord(memory.used) ? memory.used : {};
  }

  /** Stores counts next to the id of the agent's session; another session counts from zero. */
  #keep(more: StoredUsage): void {
    const memory = this.#memory.get();
    if (isRecord(memory)) this.#memory.set({ ...memory, used: { ...this.#stored, ...more } });
  }
}

/** Reads counts. The total tells whether the input includes cached tokens: some agents count them separately. */
function reportedIn(usage: Record<string, unknown>): Reported {
  const count = (name: string) => (isCount(usage[name]) ? usage[name] : 0);
  const [input, output] = [count('inputTokens'), count('outputTokens')];
  const [cacheRead, cacheWrite] = [count('cachedReadTokens'), count('cachedWriteTokens')];
  const isApart = count('totalTokens') >= input + output + cacheRead + cacheWrite;
  const whole = isApart ? input + cacheRead + cacheWrite : input;
  return { input: whole, output, cacheRead, cacheWrite, reasoning: count('thoughtTokens') };
}

function difference(now: Reported, last: Reported): Reported {
  return {
    input: now.input - last.input,
    output: now.output - last.output,
    cacheRead: now.cacheRead - last.cacheRead,
    cacheWrite: now.cacheWrite - last.cacheWrite,
    reasoning: now.reasoning - last.reasoning,
  };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
