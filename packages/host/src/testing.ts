/** For people who write or test a log or an agent. A running host needs nothing from here. */

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
