/** Agents behind a command, together with the host's own tools for those that use files through the host. */
import { type AcpAgentOptions as AgentOptions, acpAgent as agentBehindCommand } from '@atrium/agents';
import type { AgentBackend } from '@atrium/core/contracts/agent.js';
import { readFileTool } from './workspace/tools/read-file.js';
import { writeFileTool } from './workspace/tools/write-file.js';

export interface AcpAgentOptions extends Omit<AgentOptions, 'fileTools'> {
  /** Whether it reads and writes files through the host. Some agents fail with this, so it is off by default. */
  readonly files?: boolean;
}

export function acpAgent({ files = false, ...options }: AcpAgentOptions): AgentBackend {
  const fileTools = { read: readFileTool, write: writeFileTool };
  return agentBehindCommand({ ...options, ...(files && { fileTools }) });
}
