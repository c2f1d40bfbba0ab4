/**
 * Tells providers what happens in a session: its lifecycle, and the events that they subscribe to, once those are
 * stored.
 */

import type { ChatStep, SessionStep } from '@atrium/core/sessions/session-observer.js';
import { parsedInput } from '@atrium/core/tool-calls/arguments.js';
import { outcomeOf, plain } from '@atrium/core/tool-calls/results.js';
import type { Clock } from '@atrium/core/util/clock.js';
import { isRecord } from '@atrium/core/util/shape.js';
import {
  type ChatState,
  findCall,
  type Message,
  openParts,
  type StateAction,
  type ToolCallState,
  type ToolInput,
} from '@atrium/protocol/ahp-1';
import {
  type ProviderAssistantMessageData,
  type ProviderSessionEventMessage,
  type ProviderSessionEventName,
  type ProviderToolExecutionData,
  SHUTDOWN_DEADLINE_MS,
  type ToGatewayMessageMap,
} from '@atrium/protocol/provider';
import { type GatewaySession, isIdle } from './gateway-session.js';
import type { Commits, GatewayService } from './ports.js';
import { type Binding, bindingFor, type Provider, present } from './provider.js';

interface LifecycleOptions {
  readonly clock: Clock;
  readonly commits: Commits;
}

interface Ending {
  /** Providers that have not sent `shutdown.ready` yet. */
  readonly waiting: Set<Provider>;
  readonly done: () => void;
}

/** Tells providers when a session has started, is idle, or is about to end. */
export class Lifecycle implements GatewayService {
  readonly #options: LifecycleOptions;
  readonly #endings = new Map<string, Ending>();

  constructor(options: LifecycleOptions) {
    this.#options = options;
  }

  readonly handlers = {
    'shutdown.ready': ({ sessionId }: ToGatewayMessageMap['shutdown.ready'], provider: Provider) => {
      bindingFor(provider, sessionId);
      this.#ready(sessionId, provider);
    },
  };

  /** If the session began to end while the provider was being bound, the provider has heard that instead. */
  bound({ provider, sessionId, session }: Binding): void {
    if (!session.isEnding) provider.send({ type: 'session.lifecycle', sessionId, state: 'started' });
  }

  observe(session: GatewaySession, step: SessionStep): void {
    if (!step.chat || isIdle(step.before) || !session.isIdle) return;
    this.#options.commits.afterCommit(() => {
      // A held message may have started the next turn meanwhile.
      if (!session.isIdle) return;
      for (const { provider } of present(session))
        provider.send({ type: 'session.lifecycle', sessionId: session.id, state: 'idle' });
    });
  }

  ending(session: GatewaySession): Promise<void> | undefined {
    const providers = present(session).map(({ provider }) => provider);
    if (providers.length === 0) return undefined;
    const deadline = SHUTDOWN_DEADLINE_MS;
    return new Promise((resolve) => {
      const stopTimer = this.#options.clock.after(deadline, () => done());
      const done = () => {
        stopTimer();
        this.#endings.delete(session.id);
        resolve();
      };
      this.#endings.set(session.id, { waiting: new Set(providers), done });
      for (const provider of providers)
        provider.send({ type: 'session.lifecycle', sessionId: session.id, state: 'shutdown.pending', deadline });
    });
  }

  left(provider: Provider): void {
    for (const sessionId of this.#endings.keys()) this.#ready(sessionId, provider);
  }

  #ready(sessionId: string, provider: Provider): void {
    const ending = this.#endings.get(sessionId);
    ending?.waiting.delete(provider);
    if (ending?.waiting.size === 0) ending.done();
  }
}

type EventOf<Name extends ProviderSessionEventName> = Extract<ProviderSessionEventMessage, { event: Name }>['data'];

interface EventsOptions {
  readonly clock: Clock;
  readonly commits: Commits;
  /**
   * Whether a provider's message began this turn. Metadata of the message proves nothing, because every client can
   * write it.
   */
  isOfProvider(session: GatewaySession, turnId: string): boolean;
}

interface Following {
  readonly steps: AgentSteps;
  readonly tools: ToolEvents;
}

/**
 * Tells subscribed providers of messages, intents and tool calls. Events do not name their chat: messages and intents
 * are those of the default chat, which providers follow; tool calls are those of all chats.
 */
export class SessionEvents implements GatewayService {
  readonly #options: EventsOptions;
  /** Keyed by the URI of the chat. */
  readonly #following = new WeakMap<GatewaySession, Map<string, Following>>();

  constructor(options: EventsOptions) {
    this.#options = options;
  }

  observe(session: GatewaySession, step: SessionStep): void {
    if (!this.#isFollowed(session)) return;
    if (step.action.type === 'session/chatRemoved') this.#following.get(session)?.delete(step.action.chat);
    if (!step.chat) return;
    const { steps, tools } = this.#of(session, step.chat.uri);
    if (step.chat.uri === session.chat.uri) this.#sendConversation(session, step, steps);
    const ended = tools.take(step, this.#options.clock.now());
    for (const data of ended) this.#send(session, 'tool.execution_complete', data);
  }

  /** Collects text. The provider is told when the step is over. */
  textAdded(session: GatewaySession, step: ChatStep): void {
    if (this.#isFollowed(session) && step.chat.uri === session.chat.uri)
      this.#of(session, step.chat.uri).steps.take(step);
  }

  /** Most sessions have no subscribers. A provider that subscribes during a turn hears the rest of it. */
  #isFollowed(session: GatewaySession): boolean {
    const isFollowed = session.bindings.some(isSubscribed);
    if (!isFollowed) this.#following.delete(session);
    return isFollowed;
  }

  #sendConversation(session: GatewaySession, step: ChatStep, steps: AgentSteps): void {
    const { action, after } = step;
    if (action.type === 'chat/turnStarted') {
      const isOfProvider = this.#options.isOfProvider(session, action.turnId);
      this.#send(session, 'user.message', messageData(action.message, isOfProvider));
    }
    const text = steps.take(step);
    if (text) this.#send(session, 'assistant.message', text);
    if (action.type === 'chat/activityChanged' && action.activity && after.activeTurn)
      this.#send(session, 'assistant.intent', { intent: action.activity });
  }

  #of(session: GatewaySession, chat: string): Following {
    const chats = this.#following.get(session) ?? new Map<string, Following>();
    this.#following.set(session, chats);
    const following = chats.get(chat) ?? { steps: new AgentSteps(), tools: new ToolEvents() };
    chats.set(chat, following);
    return following;
  }

  #send<Name extends ProviderSessionEventName>(session: GatewaySession, event: Name, data: EventOf<Name>): void {
    const subscribers = session.bindings.filter(
      ({ isAway, provider }) => !isAway && provider.registration.subscribe.has(event),
    );
    if (subscribers.length === 0) return;
    const message = { type: 'session.event', sessionId: session.id, event, data } as ProviderSessionEventMessage;
    this.#options.commits.afterCommit(() => {
      for (const { provider } of subscribers) provider.send(message);
    });
  }
}

function isSubscribed({ provider }: Binding): boolean {
  return provider.registration.subscribe.size > 0;
}

/** `origin` lets a provider recognise its own messages; messages of people have none. */
function messageData({ text, _meta }: Message, isOfProvider: boolean): EventOf<'user.message'> & { origin?: object } {
  const gateway = _meta?.gateway;
  if (!isOfProvider || !isRecord(gateway)) return { content: text };
  return { content: text, origin: { provider: gateway.provider, stream: gateway.stream } };
}

interface Call {
  readonly name: string;
  /** Absent while the agent is still writing it. */
  input?: string;
}

/**
 * Collects what an agent says in one step: its text and the calls it asked for. A step is over when the first of its
 * calls ends: by then the agent has said everything, and waits.
 */
class AgentSteps {
  #text = '';
  readonly #calls = new Map<string, Call>();

  /** Takes an action; returns the step that it ended, if any. */
  take({ action, after }: ChatStep): ProviderAssistantMessageData | undefined {
    const hasCallEnded = this.#add(action);
    const isOver = !after.activeTurn || (hasCallEnded && this.#areCallsComplete());
    return isOver && (this.#text !== '' || this.#calls.size > 0) ? this.#flush() : undefined;
  }

  /** Returns whether the action ended a call of this step. */
  #add(action: StateAction): boolean {
    if (action.type === 'chat/delta') this.#text += action.content;
    if (action.type === 'chat/responsePart' && action.part.kind === 'markdown') this.#text += action.part.content;
    if (action.type === 'chat/toolCallStart') this.#calls.set(action.toolCallId, { name: action.toolName });
    if (!('toolCallId' in action)) return false;
    const call = this.#calls.get(action.toolCallId);
    if (call && action.type === 'chat/toolCallReady') call.input = inputText(action.toolInput);
    const isEnd = action.type === 'chat/toolCallComplete';
    return call !== undefined && (isEnd || (action.type === 'chat/toolCallConfirmed' && !action.approved));
  }

  #areCallsComplete(): boolean {
    return [...this.#calls.values()].every(({ input }) => input !== undefined);
  }

  #flush(): ProviderAssistantMessageData {
    const toolRequests = [...this.#calls.values()].map(({ name, input }) => ({ name, args: argumentsOf(input) }));
    const content = this.#text;
    this.#text = '';
    this.#calls.clear();
    return { content, ...(toolRequests.length > 0 && { toolRequests }) };
  }
}

/** Input that is stored in a file is not read for an event. */
function inputText(input: ToolInput | undefined): string {
  return typeof input === 'string' ? input : '';
}

function argumentsOf(input: string | undefined): Record<string, unknown> {
  const value = parsedInput(input ?? '{}');
  return isRecord(value) ? value : {};
}

/**
 * Actions that move a call from one state to the next. Input and progress are far more frequent, and never end a call.
 */
const CHANGES: ReadonlySet<string> = new Set([
  'chat/toolCallReady',
  'chat/toolCallConfirmed',
  'chat/toolCallComplete',
  'chat/toolCallResultConfirmed',
]);

/** Reports when tool calls end, for whatever reason, and how long they ran. */
class ToolEvents {
  readonly #startedAt = new Map<string, number>();

  /** The calls that this action ended. */
  take({ action, before, after }: ChatStep, now: number): ProviderToolExecutionData[] {
    if ('toolCallId' in action && !CHANGES.has(action.type)) return [];
    if ('toolCallId' in action)
      return this.#changed(callIn(before, action.toolCallId), callIn(after, action.toolCallId), now);
    if (!before.activeTurn || after.activeTurn) return [];
    const last = after.turns.at(-1);
    const ended = [...openParts(before.activeTurn)].flatMap((part) => {
      if (part.kind !== 'toolCall') return [];
      return this.#changed(part.toolCall, last && findCall(last, part.toolCall.toolCallId), now);
    });
    this.#startedAt.clear();
    return ended;
  }

  #changed(
    before: ToolCallState | undefined,
    after: ToolCallState | undefined,
    now: number,
  ): ProviderToolExecutionData[] {
    if (!after || before === after) return [];
    if (after.status === 'running' && before?.status !== 'running') this.#startedAt.set(after.toolCallId, now);
    if (!isOver(after) || (before && isOver(before))) return [];
    const startedAt = this.#startedAt.get(after.toolCallId) ?? now;
    this.#startedAt.delete(after.toolCallId);
    return [dataOf(after, Math.max(0, now - startedAt))];
  }
}

function dataOf(call: ToolCallState, durationMs: number): ProviderToolExecutionData {
  const provider = providerOf(call);
  const toolInput = 'toolInput' in call ? call.toolInput : undefined;
  return {
    tool: call.toolName,
    ...(provider !== undefined && { provider }),
    args: argumentsOf(inputText(toolInput)),
    result: resultOf(call),
    durationMs,
  };
}

function resultOf(call: ToolCallState): ProviderToolExecutionData['result'] {
  if (call.status === 'completed') {
    const outcome = outcomeOf(call);
    return {
      type: call.success ? 'success' : 'failure',
      ...(outcome.kind === 'completed' && { output: outcome.text }),
    };
  }
  const reason = call.status === 'cancelled' ? plain(call.reasonMessage) : undefined;
  return { type: 'failure', ...(reason !== undefined && { output: reason }) };
}

function providerOf({ _meta }: ToolCallState): string | undefined {
  const gateway = _meta?.gateway;
  return isRecord(gateway) && typeof gateway.provider === 'string' ? gateway.provider : undefined;
}

function isOver({ status }: ToolCallState): boolean {
  return status === 'completed' || status === 'cancelled';
}

function callIn({ activeTurn }: ChatState, toolCallId: string): ToolCallState | undefined {
  return activeTurn && findCall(activeTurn, toolCallId);
}
