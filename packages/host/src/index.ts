/** The agent host, for programs that embed it. */

export {
  type ClaudeAgentOptions,
  type CopilotAgentOptions,
  claudeAgent,
  copilotAgent,
  loadScripts,
  type ModelAgentOptions,
  type ModelApi,
  type ModelInfo,
  modelAgent,
  type OfflineAgentOptions,
  offlineAgent,
  type Script,
  ScriptError,
  type ScriptedAgentOptions,
  scriptedAgent,
} from '@atrium/agents';
export {
  type AgentAbilities,
  type AgentBackend,
  AgentError,
  type AgentMemory,
  type AgentOpenContext,
  type AgentRunCall,
  type AgentRunCallStart,
  type AgentSession,
  type AgentTurn,
  type BegunCall,
  type CallStart,
  type InputOutcome,
  type Permit,
  type ScriptedToolCall,
  type ToolOutcome,
  type ToolRequest,
} from '@atrium/core/contracts/agent.js';
export type {
  Extension,
  Gate,
  GateCall,
  GateVerdict,
  PromptContribution,
  RenderFacts,
  SectionCallback,
  StaticTransform,
  TurnAdvice,
  TurnOpening,
} from '@atrium/core/contracts/extension.js';
export type { HostTool, ToolConfirmation, ToolContext, ToolOutput } from '@atrium/core/contracts/tool.js';
export { type Log, LogFencedError, LogLockedError, LogOpenError, LogWriteError } from '@atrium/core/log/log.js';
export { MemoryLog } from '@atrium/core/log/memory-log.js';
export { type Clock, systemClock } from '@atrium/core/util/clock.js';
export { type LogFields, type Logger, type LogLevel, silentLogger } from '@atrium/core/util/logger.js';
export { promptText } from '@atrium/core/util/prompt-sections.js';
export { NotPrivateError, newToken } from '@atrium/core/util/secrets.js';
export { WireFrame } from '@atrium/core/wire/frames.js';
export { CloseCode, type Transport, type TransportEvents } from '@atrium/core/wire/transport.js';
export { type ClientEnd, transportPair } from '@atrium/core/wire/transports/in-process.js';
export { messagePortTransport } from '@atrium/core/wire/transports/message-port.js';
export { type StdioTransportOptions, stdioTransport } from '@atrium/core/wire/transports/stdio.js';
export { type AcpAgentOptions, acpAgent } from './acp-agent.js';
export { ConfigError, userConfigFile } from './config/config-file.js';
export type { Config } from './config/config-schema.js';
export { DAMAGE_MEMBER, type DamageReport, storedReports } from './damage-reports.js';
export { type DeclaredPrograms, declaredPrograms } from './declared-programs.js';
export type { Reachability, RotatedToken } from './devices/devices.js';
export type { AcpOptions, AgentFactories, AgentSource, SdkOptions } from './discovery/candidate.js';
export { type Discovered, type DiscoveryOptions, discoverAgents } from './discovery/discovery.js';
export type { LocalServer } from './discovery/model-servers.js';
export { configuredModels } from './discovery/models.js';
export { type GatewayServer, type GatewayServerOptions, startGatewayServer } from './gateway/gateway-server.js';
export { createHost } from './host.js';
export type { GatewayAddress, Host, HostActivity, HostDevices, HostOptions } from './host-options.js';
export { type ConfigSources, type LoadedConfig, loadConfig, type WaitingForTrust } from './load-config.js';
export { openSqliteLog, type SqliteLog, type SqliteLogOptions } from './log-sqlite/sqlite-log.js';
export type { CustomizationsOptions } from './plugins/customizations/ports.js';
export { type FolderTrust, type NamedFolder, TrustedFolders } from './plugins/trust/folder-trust.js';
export {
  askedTogether,
  isShowable,
  PROGRAM_LINE_MAX_CHARACTERS,
  PROGRAMS_QUESTION_MAX,
  type Program,
} from './plugins/trust/programs.js';
export { type AccessPolicy, EncryptionRequiredError, isInsecure, TokenRequiredError } from './server/access.js';
export type { RelayedSource } from './server/forwarded.js';
export type { Health } from './server/health.js';
export { announceInstance, type Instance, runningInstances } from './server/instances.js';
export { Networks } from './server/peer-address.js';
export {
  type RunningServer,
  type ServerLimits,
  type ServerOptions,
  startServer,
} from './server/server.js';
export { type PageOptions, type StaticFiles, staticFiles } from './server/static-files.js';
export { readTlsPair, type TlsFiles, TlsFilesError, type TlsPair } from './server/tls-files.js';
export {
  isTokenText,
  keptToken,
  readToken,
  type StoredToken,
  storeToken,
  TOKEN_ADVISED_CHARACTERS,
  TOKEN_FILE,
} from './server/token-file.js';
export { websocketTransport } from './server/websocket.js';
export type { TelemetryChoice } from './telemetry/telemetry-service.js';
export type { TerminalsOptions } from './workspace/terminals/terminals.js';
export { builtinTools } from './workspace/tools/builtin.js';
