/** An agent that does nothing by itself: the test holds the strings. */

import type {
  AgentAbilities,
  AgentBackend,
  AgentOpenContext,
  AgentSession,
  AgentTurn,
} from '@atrium/core/contracts/agent.js';
import { untilAborted } from '@atrium/core/util/waiting.js';
import type { Turn } from '@atrium/protocol/ahp-1';

export interface PuppetTurn {
  readonly turn: AgentTurn;
  /** How often history had been cut when it began. */
  readonly truncationsBefore: number;
  /** The agent is done. */
  finish(): void;
  /** The agent has failed. */
  fail(error: Error): void;
}

export class PuppetAgent implements AgentBackend {
  readonly info;
  readonly abilities: AgentAbilities = {
    tools: 'live',
    toolIntent: 'all',
    render: 'none',
    steer: true,
    cancelTool: true,
  };
  readonly sections = {};
  /** Every turn that it was ever given. */
  readonly turns: PuppetTurn[] = [];
  /** Every session that it was asked to open, and what it was told. */
  readonly openings: AgentOpenContext[] = [];
  /** What it was told to cut off. */
  readonly truncations: (string | undefined)[] = [];
  closings = 0;
  /** What opening a session waits for; rejects when opening is to fail. */
  opening: Promise<void> = Promise.resolve();
  #watcher: (() => void) | undefined;

  constructor(provider = 'puppet', info: Partial<AgentBackend['info']> = {}) {
    this.info = { provider, displayName: 'Puppet', description: 'Held by a test', models: [], ...info };
  }

  async open(context: AgentOpenContext): Promise<AgentSession> {
    this.openings.push(context);
    await untilAborted(context.signal, this.opening);
    return {
      runTurn: (turn) => this.#run(turn),
      truncated: async (turnId) => void this.truncations.push(turnId),
      close: async () => void this.closings++,
    };
  }

  #run(turn: AgentTurn): Promise<void> {
    return new Promise((resolve, reject) => {
      this.turns.push({ turn, truncationsBefore: this.truncations.length, finish: resolve, fail: reject });
      this.#watcher?.();
    });
  }

  /** The turn with this index, as soon as the agent has it. */
  async turn(index: number): Promise<PuppetTurn> {
    for (;;) {
      const found = this.turns[index];
      if (found) return found;
      await new Promise<void>((resolve) => {
        this.#watcher = resolve;
      });
    }
  }

  /** The turns before, as the newest opening was told. */
  history(last: number): Promise<Turn[]> {
    return this.openings.at(-1)?.history(last) ?? Promise.resolve([]);
  }
}
