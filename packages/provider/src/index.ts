/** Write a provider: lend tools, gates, prompt text and events to live agent sessions. */

export type { Clock, Log, Transport, TransportFactory } from '@atrium/link';
export { LocalErrorCode, ProviderError, type ProviderErrorCode, ToolError } from './errors.js';
export {
  allow,
  type ContextRule,
  context,
  type DenyRule,
  deny,
  type Gate,
  type GatedCall,
  type Rules,
  type Transform,
  type TransformContext,
  type Transforms,
  type Verdict,
} from './hooks.js';
export type { Binding, Pairing, ProviderOptions, ProviderState, SessionChoice, TokenStore } from './options.js';
export { webSocketTransport } from './options.js';
export { connectProvider, Provider, type Push, type PushOptions } from './provider.js';
export type { Handlers, SessionRef, Shutdown } from './session-events.js';
export { FileResult, fileResult, type Tool, type ToolArguments, type ToolContext, type Tools } from './tools.js';
export type { Acknowledged, HookChanges, OneSession, ToolChanges } from './updates.js';
