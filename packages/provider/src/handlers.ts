/** What an author may listen to. Which events the gateway has to send follows from which handlers there are. */
import type {
  ProviderAssistantIntentData,
  ProviderAssistantMessageData,
  ProviderSessionEventName,
  ProviderToolExecutionData,
  ProviderUserMessageData,
} from '@atrium/protocol/provider';
import type { ProviderError } from './errors.js';

export interface SessionRef {
  readonly sessionId: string;
}

export interface Shutdown extends SessionRef {
  /** Milliseconds until the session ends without you. */
  readonly deadlineMs: number;
}

export interface Handlers {
  /** A person, or another provider, wrote to the model. Not for paired providers. */
  userMessage?(data: ProviderUserMessageData, session: SessionRef): void;
  /** Not for paired providers. */
  assistantMessage?(data: ProviderAssistantMessageData, session: SessionRef): void;
  /** Any tool call ended, whoever ran it. */
  toolComplete?(data: ProviderToolExecutionData, session: SessionRef): void;
  /** What the model is about to do. Not for paired providers. */
  intent?(data: ProviderAssistantIntentData, session: SessionRef): void;
  /** You are bound to a session that is ready. Older gateways never say so; `provider.ready` is the sure sign. */
  started?(session: SessionRef): void;
  /** The session has nothing left to do. */
  idle?(session: SessionRef): void;
  /** The session is about to end. It waits for your promise, but not past the deadline. */
  shutdown?(shutdown: Shutdown): void | Promise<void>;
  /** Only when bound to all: a session has started. Your tools appear in it when your promise has resolved. */
  newSession?(session: SessionRef): void | Promise<void>;
  /** The gateway refused something that nobody waits for, such as a push. Logged when there is no handler. */
  error?(error: ProviderError): void;
}

export const EVENT_HANDLERS = {
  'user.message': 'userMessage',
  'assistant.message': 'assistantMessage',
  'tool.execution_complete': 'toolComplete',
  'assistant.intent': 'intent',
} as const satisfies Record<ProviderSessionEventName, keyof Handlers>;

/** What to subscribe to: what there is a handler for, and what was asked for besides. */
export function subscriptions(on: Handlers, extra: readonly string[]): string[] {
  const handled = Object.entries(EVENT_HANDLERS).filter(([, handler]) => on[handler] !== undefined);
  return [...new Set([...handled.map(([event]) => event), ...extra])];
}
