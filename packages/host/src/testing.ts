/** For those who write a log, or test against one. Nothing here is needed to run a host. */
export { type ContractApi, type LogUnderTest, logContract } from './log/contract.js';
export { MemoryLog } from './log/memory-log.js';
