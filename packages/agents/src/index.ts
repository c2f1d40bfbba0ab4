/** The agents that come with the host. Everything outside of this folder uses them through this file. */
export { type AcpAgentOptions, acpAgent } from './acp/backend.js';
export { type ClaudeAgentOptions, claudeAgent } from './claude/backend.js';
export { type CopilotAgentOptions, copilotAgent } from './copilot/backend.js';
export { type ModelAgentOptions, type ModelApi, modelAgent } from './model/backend.js';
export { type OfflineAgentOptions, offlineAgent } from './offline/backend.js';
export { loadScripts, type ScriptedAgentOptions, scriptedAgent } from './scripted/backend.js';
export type { Script } from './scripted/script.js';
export { ScriptError } from './scripted/script.js';
export type { ModelInfo } from './shared/agent-info.js';
export { instructionFiles } from './shared/project-instructions.js';
