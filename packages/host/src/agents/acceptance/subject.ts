/** What the author of a backend hands in: an agent that follows a plan, and what it cannot show. */
import type { AgentBackend } from '../../core/contracts/agent.js';
import type { PlannedAnswer, PlannedFailure } from './plan.js';

export interface AgentUnderTest {
  readonly agent: AgentBackend;
  /** All text that was last put to whatever thinks behind the backend: the prompt, and what came before it. */
  heard?(): string | Promise<string>;
  /** The processes that were started for it so far. */
  pids?(): Promise<readonly number[]>;
  close?(): Promise<void>;
}

/** Called once per test. */
export type MakeAgent = (plan: readonly PlannedAnswer[]) => Promise<AgentUnderTest>;

/** What a test looks at; `failures` are for agents that do not try again by themselves for as long as they like. */
export type Showing = 'heard' | 'reasoning' | 'usage' | 'truncation' | 'failures';

export interface AcceptanceOptions {
  /** What this backend cannot show; the tests that need it are left out. */
  readonly without?: readonly Showing[];
  /** The failures that it can tell apart; all of them by default. Any other must still end the turn as an error. */
  readonly tells?: readonly PlannedFailure[];
  /** Stretches every wait of the suite, but never the time in which a cancelled turn must stop. */
  readonly timeScale?: number;
}
