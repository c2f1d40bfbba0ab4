/** The agent host, for those who embed it. */
export {
  type AgentAbilities,
  type AgentBackend,
  AgentError,
  type AgentOpenContext,
  type AgentSession,
  type AgentTurn,
  type CannedToolCall,
  type InputOutcome,
  type ToolOutcome,
  type ToolRequest,
} from './agents/agent.js';
export { type Clock, systemClock } from './clock.js';
export { createHost, type Host, type HostOptions } from './host.js';
export type { Log } from './log/log.js';
export { type LogFields, type Logger, type LogLevel, silentLogger } from './logger.js';
export type { HostTool, ToolConfirmation, ToolContext, ToolOutput } from './tools/tool.js';
export { CloseCode, type Transport, type TransportEvents } from './wire/transport.js';
export { WireFrame } from './wire/wire-frame.js';
