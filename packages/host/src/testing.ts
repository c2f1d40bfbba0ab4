/** For those who write a log or an agent, or test against one. Nothing here is needed to run a host. */
export {
  type AcceptanceApi,
  type AcceptanceOptions,
  type AgentUnderTest,
  agentAcceptance,
  type MakeAgent,
  type PlannedAnswer,
  type PlannedFailure,
} from './agent-acceptance/suite.js';
export { type ContractApi, type LogUnderTest, logContract } from './core/log/conformance-suite.js';
export { MemoryLog } from './core/log/memory-log.js';
