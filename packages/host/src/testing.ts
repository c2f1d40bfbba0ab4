/** For those who write a log or an agent, or test against one. Nothing here is needed to run a host. */

export { type ClusterUnderTest, sharedLogContract } from '@atrium/core/log/conformance-shared.js';
export { type ContractApi, type LogUnderTest, logContract } from '@atrium/core/log/conformance-suite.js';
export { MemoryLog } from '@atrium/core/log/memory-log.js';
export {
  type AcceptanceApi,
  type AcceptanceOptions,
  type AgentUnderTest,
  agentAcceptance,
  type MakeAgent,
  type PlannedAnswer,
  type PlannedFailure,
} from './agent-acceptance/suite.js';
