/** Write a provider: lend tools, gates, prompt text and events to live agent sessions. */
export type { HookChanges, OneSession, ToolChanges } from './changes.js';
export type { Clock } from './clock.js';
export { LocalErrorCode, ProviderError, type ProviderErrorCode, ToolError } from './errors.js';
export type { Handlers, SessionRef, Shutdown } from './handlers.js';
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
export type { Log } from './log.js';
export type { Pairing, ProviderOptions, SessionChoice, TokenStore } from './options.js';
export { connectProvider, Provider, type Push, type PushOptions } from './provider.js';
export type { Binding, ProviderState } from './state.js';
export { FileResult, fileResult, type Tool, type ToolArguments, type ToolContext, type Tools } from './tools.js';
export type { Transport, TransportFactory } from './transport.js';
export { webSocketTransport } from './transports/websocket.js';
export type { Acknowledged } from './updates.js';
