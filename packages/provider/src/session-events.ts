/** Events of sessions: the handlers that an author gives, and how messages of the gateway reach them. */
import type { Log } from '@atrium/link';
import type {
  ProviderAssistantIntentData,
  ProviderAssistantMessageData,
  ProviderSessionEntry,
  ProviderSessionEventMessage,
  ProviderSessionEventName,
  ProviderSessionLifecycleMessage,
  ProviderToolExecutionData,
  ProviderUserMessageData,
  ToGatewayMessage,
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
  /** Any tool call ended, of this provider or another. */
  toolComplete?(data: ProviderToolExecutionData, session: SessionRef): void;
  /** What the model is about to do. Not for paired providers. */
  intent?(data: ProviderAssistantIntentData, session: SessionRef): void;
  /** You are bound to a session that is ready. Older gateways never say so; rely on `provider.ready`. */
  started?(session: SessionRef): void;
  /** The session has nothing left to do. */
  idle?(session: SessionRef): void;
  /** The session is about to end. It waits for your promise, but not past the deadline. */
  shutdown?(shutdown: Shutdown): void | Promise<void>;
  /** Only when bound to all: a session has started. Your tools appear in it when your promise has resolved. */
  newSession?(session: SessionRef): void | Promise<void>;
  /** The gateway refused a message without a pending promise, such as a push. Logged when there is no handler. */
  error?(error: ProviderError): void;
}

const EVENT_HANDLERS = {
  'user.message': 'userMessage',
  'assistant.message': 'assistantMessage',
  'tool.execution_complete': 'toolComplete',
  'assistant.intent': 'intent',
} as const satisfies Record<ProviderSessionEventName, keyof Handlers>;

/** The events to subscribe to: those with a handler, and those in `subscribe`. */
export function subscriptions(on: Handlers, extra: readonly string[]): string[] {
  const handled = Object.entries(EVENT_HANDLERS).filter(([, handler]) => on[handler] !== undefined);
  return [...new Set([...handled.map(([event]) => event), ...extra])];
}

interface SessionEventsOptions {
  readonly on: Handlers;
  readonly log: Log;
  send(message: ToGatewayMessage): void;
  /** The author has finished with a session that is about to end. */
  ended(sessionId: string): void;
}

export class SessionEvents {
  readonly #options: SessionEventsOptions;
  /** Sessions that a provider bound to all has answered for. */
  #known: ReadonlySet<string> = new Set();

  constructor(options: SessionEventsOptions) {
    this.#options = options;
  }

  event({ event, data, sessionId }: ProviderSessionEventMessage): void {
    const handler = this.#options.on[EVENT_HANDLERS[event]] as
      | ((data: unknown, session: { sessionId: string }) => void)
      | undefined;
    void this.#guarded(event, () => handler?.(data, { sessionId }));
  }

  lifecycle(message: ProviderSessionLifecycleMessage): void {
    const { on } = this.#options;
    const { sessionId } = message;
    if (message.state === 'started') void this.#guarded('started', () => on.started?.({ sessionId }));
    if (message.state === 'idle') void this.#guarded('idle', () => on.idle?.({ sessionId }));
    if (message.state === 'shutdown.pending') void this.#shutdown(sessionId, message.deadline);
  }

  /** For providers bound to all: `hello` covers the sessions in this list; each later one needs `session.ready`. */
  helloSent(active: readonly ProviderSessionEntry[]): void {
    this.#known = new Set(active.map(({ id }) => id));
  }

  updated(active: readonly ProviderSessionEntry[]): void {
    const added = active.filter(({ id }) => !this.#known.has(id));
    this.helloSent(active);
    for (const { id } of added) void this.#prepare(id);
  }

  async #prepare(sessionId: string): Promise<void> {
    const { on, send } = this.#options;
    const isReady = await this.#guarded('newSession', () => on.newSession?.({ sessionId }));
    if (isReady && this.#known.has(sessionId)) send({ type: 'session.ready', sessionId });
  }

  async #shutdown(sessionId: string, deadlineMs: number): Promise<void> {
    const { on, send, ended } = this.#options;
    await this.#guarded('shutdown', () => on.shutdown?.({ sessionId, deadlineMs }));
    send({ type: 'shutdown.ready', sessionId });
    ended(sessionId);
  }

  /** Runs a handler of the author; false when it threw. */
  async #guarded(what: string, work: () => unknown): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      this.#options.log(`the handler of ${what} failed`, error);
      return false;
    }
  }
}
