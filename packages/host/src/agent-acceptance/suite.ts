/**
 * The promises of every agent backend, as tests through a real host. The author of a backend runs them with
 * `agentAcceptance({ describe, it, expect }, 'my agent', makeMyAgent)`; the test runner is passed as an argument.
 * `makeMyAgent` gets a plan and returns a fresh agent whose model answers by it. Pass `{ timeScale: 4 }` for an agent
 * that starts a process. The suite tests only the abilities that an agent declares.
 */
import type { AgentBackend } from '@atrium/core/contracts/agent.js';
import type { Extension } from '@atrium/core/contracts/extension.js';
import type { ContractApi } from '@atrium/core/log/conformance-suite.js';
import * as cases from './cases.js';
import { TestSession } from './test-session.js';

export function agentAcceptance(
  api: AcceptanceApi,
  name: string,
  make: MakeAgent,
  options: AcceptanceOptions = {},
): void {
  const suite = suiteOf(api, make, options);
  api.describe(`${name} is an agent`, () => {
    cases.streaming(suite);
    cases.toolCalls(suite);
    cases.gates(suite);
    cases.cancelling(suite);
    cases.failures(suite);
    cases.usage(suite);
    cases.steering(suite);
    cases.resuming(suite);
    cases.prompt(suite);
    cases.processes(suite);
  });
}

/** One answer of the model behind a backend. Answers are used in order, over all turns. */
export interface PlannedAnswer {
  readonly reasoning?: string;
  /** In pieces. */
  readonly text?: readonly string[];
  /** A tool call; the next answer follows its result. The name is the host's, and may differ for the model. */
  readonly call?: { readonly name: string; readonly input: Readonly<Record<string, string>> };
  readonly usage?: { readonly input: number; readonly output: number };
  /** After its text, the model falls silent for ever. */
  readonly hangs?: boolean;
  /** The request fails, however often it is tried within the turn. */
  readonly fails?: PlannedFailure;
}

export const PLANNED_FAILURES = [
  'auth',
  'rate-limited',
  'overloaded',
  'context-overflow',
  'network',
  'model-not-found',
  'other',
] as const;
export type PlannedFailure = (typeof PLANNED_FAILURES)[number];

export interface AgentUnderTest {
  readonly agent: AgentBackend;
  /** All text of the last request to the model: the prompt, and the conversation before it. */
  receivedMessages?(): string | Promise<string>;
  /** The processes that were started for it so far. */
  pids?(): Promise<readonly number[]>;
  close?(): Promise<void>;
}

/** Called once per test. */
export type MakeAgent = (plan: readonly PlannedAnswer[]) => Promise<AgentUnderTest>;

/** What a test needs to observe; `failures` are for agents that do not retry for ever by themselves. */
export type Showing = 'heard' | 'reasoning' | 'usage' | 'truncation' | 'failures';

export interface AcceptanceOptions {
  /** What this backend cannot show. Tests that need it are left out. */
  readonly without?: readonly Showing[];
  /** The failures that it can distinguish; by default all. Any other must still end the turn as an error. */
  readonly distinguishes?: readonly PlannedFailure[];
  /** Stretches every wait of the suite, but never the time in which a cancelled turn must stop. */
  readonly timeScale?: number;
}

/** The part of vitest, or of a runner like it, that the suite needs. */
export interface AcceptanceApi extends ContractApi {
  it(name: string, body: () => Promise<void>, timeoutMs?: number): void;
}

export interface Suite {
  readonly expect: AcceptanceApi['expect'];
  /** Whether the backend can show this; tests are registered only where it can. */
  shows(what: Showing): boolean;
  distinguishes(failure: PlannedFailure): boolean;
  /** A test with a host around the agent, which is stopped afterwards. */
  test(name: string, plan: readonly PlannedAnswer[], body: TestBody, extras?: SessionExtras): void;
}

type TestBody = (session: TestSession) => Promise<void>;
/** Extends the session of a test, in addition to the tool for notes. */
type SessionExtras = Pick<Extension, 'gates' | 'prompt' | 'beforeTurn'>;

/** How long a test waits for one event, before `timeScale` stretches it. */
const WAIT_MAX_MS = 5_000;
/** A test waits for several events, one after the other. */
const WAITS_PER_TEST = 4;

function suiteOf({ it, expect }: AcceptanceApi, make: MakeAgent, options: AcceptanceOptions): Suite {
  const { without = [], distinguishes, timeScale = 1 } = options;
  const waitMaxMs = WAIT_MAX_MS * timeScale;
  return {
    expect,
    shows: (what) => !without.includes(what),
    distinguishes: (failure) => distinguishes?.includes(failure) ?? true,
    test: (name, plan, body, extras = {}) => {
      const inSession = async () => {
        const session = await TestSession.open(await make(plan), { extras, waitMaxMs });
        await body(session).finally(() => session.close());
      };
      it(name, inSession, waitMaxMs * WAITS_PER_TEST);
    },
  };
}
