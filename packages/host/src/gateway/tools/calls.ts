/**
 * Calls under way at providers. Each ends exactly once: by the provider's answer, by its timeout, because the provider
 * left, or because the turn was stopped. Later answers are dropped.
 */
import { randomUUID } from 'node:crypto';
import type { Attributes } from '@atrium/core/contracts/telemetry.js';
import type { Clock } from '@atrium/core/util/clock.js';
import {
  CANCELLED_SLOT_RELEASE_MS,
  ProviderRuleError,
  type ProviderToolResultMessage,
  QUEUED_CALLS_MAX,
  TOOL_TIMEOUT_DEFAULT_MS,
  ToolErrorCode,
  type ToolOutcome,
  toolOutcomeOf,
} from '@atrium/protocol/provider';
import { GatewayError } from '../gateway-errors.js';
import type { CallTelemetry, DepartureReason } from '../ports.js';
import type { Binding, Provider } from '../provider.js';

/** The longest timeout, whatever a tool asks for: a turn must not wait for a silent provider for ever. */
export const TOOL_TIMEOUT_MAX_MS = 60 * 60_000;

export interface CallRequest {
  readonly binding: Binding;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** The turn is over, or a person stopped it. */
  readonly signal: AbortSignal;
  progress(text: string): void;
}

interface Call extends QueuedCall {
  readonly id: string;
  readonly request: CallRequest;
  readonly queue: string;
  /** `waiting`: not sent yet. `cancelled`: the outcome is decided, but the provider is still working on the call. */
  stage: 'waiting' | 'running' | 'cancelled';
  stopTimer(): void;
  stopListening(): void;
  /** Only the first call of this function has an effect. */
  settle(outcome: ToolOutcome): void;
}

export class Calls {
  readonly #calls = new Map<string, Call>();
  readonly #queues = new CallQueues();

  constructor(private readonly options: { readonly clock: Clock; readonly telemetry: CallTelemetry | undefined }) {}

  /** How many calls and queues are open, for tests that look for leaks. */
  get size(): number {
    return this.#calls.size + this.#queues.size;
  }

  call(request: CallRequest): Promise<ToolOutcome> {
    const { telemetry } = this.options;
    if (!telemetry) return this.#make(request);
    return telemetry.around('atrium.provider.call', attributesOf(request), () => this.#make(request), failureIn);
  }

  #make(request: CallRequest): Promise<ToolOutcome> {
    return new Promise((settle) => {
      const call = this.#callOf(request, settle);
      this.#calls.set(call.id, call);
      if (this.#queues.enter(call.queue, call)) return;
      this.#end(call, failure(ToolErrorCode.RateLimited, 'too many calls are waiting for this provider: call later'));
    });
  }

  #callOf(request: CallRequest, settle: (outcome: ToolOutcome) => void): Call {
    const { signal, binding } = request;
    const stopped = () => this.#cancel(call, 'interrupted', failure(ToolErrorCode.Cancelled, 'stopped'));
    signal.addEventListener('abort', stopped, { once: true });
    const call: Call = {
      id: randomUUID(),
      request,
      queue: queueOf(request),
      max: binding.provider.registration.concurrency.max ?? Number.POSITIVE_INFINITY,
      stage: 'waiting',
      begin: () => this.#begin(call),
      stopTimer: () => {},
      stopListening: () => signal.removeEventListener('abort', stopped),
      settle,
    };
    return call;
  }

  /** Checks again, because things may have changed while the call waited. */
  #begin(call: Call): void {
    const refusal = refusalOf(call.request);
    if (refusal) return this.#end(call, refusal);
    const { binding, tool, args } = call.request;
    const wantedMs = binding.tools.get(tool)?.timeout ?? TOOL_TIMEOUT_DEFAULT_MS;
    const timeoutMs = Math.min(wantedMs, TOOL_TIMEOUT_MAX_MS);
    const overdue = failure(ToolErrorCode.Timeout, `no answer in ${timeoutMs / 1_000} s`);
    call.stage = 'running';
    call.stopTimer = this.options.clock.after(timeoutMs, () => this.#cancel(call, 'timeout', overdue));
    binding.provider.send({ type: 'tool.call', id: call.id, sessionId: binding.sessionId, tool, args });
  }

  /**
   * The model gets the outcome at once; the call keeps its slot until the provider has stopped, or for
   * `CANCELLED_SLOT_RELEASE_MS`.
   */
  #cancel(call: Call, reason: string, outcome: ToolOutcome): void {
    if (call.stage === 'waiting') return this.#end(call, outcome);
    if (call.stage === 'cancelled') return;
    call.stage = 'cancelled';
    call.stopTimer();
    call.stopListening();
    call.settle(outcome);
    call.stopTimer = this.options.clock.after(CANCELLED_SLOT_RELEASE_MS, () => this.#end(call, outcome));
    const { provider, sessionId } = call.request.binding;
    provider.send({ type: 'tool.cancel', id: call.id, sessionId, reason });
  }

  /** Takes an answer. Ignores answers to calls that are over or that went to another provider. */
  answered(provider: Provider, message: ProviderToolResultMessage): void {
    const call = this.#sentTo(provider, message.id);
    if (call) this.#end(call, outcomeIn(message));
  }

  progressed(provider: Provider, id: string, text: string): void {
    const call = this.#sentTo(provider, id);
    if (call?.stage === 'running') call.request.progress(text);
  }

  /** Fails all calls of a provider that left. */
  left(provider: Provider, how: DepartureReason): void {
    const outcome =
      how === 'rebound'
        ? failure(ToolErrorCode.Cancelled, `${provider.title} has bound again`)
        : failure(
            ToolErrorCode.Disconnected,
            `${provider.title} went away; how much of the call it has done is unknown`,
          );
    const lost = [...this.#calls.values()].filter(({ request }) => request.binding.provider === provider);
    // Waiting calls end first; otherwise each would begin when the one before it ends.
    for (const stage of ['waiting', 'running', 'cancelled'])
      for (const call of lost) if (call.stage === stage) this.#end(call, outcome);
  }

  #end(call: Call, outcome: ToolOutcome): void {
    if (!this.#calls.delete(call.id)) return;
    call.stopTimer();
    call.stopListening();
    call.settle(outcome);
    this.#queues.remove(call.queue, call);
  }

  #sentTo(provider: Provider, id: string): Call | undefined {
    const call = this.#calls.get(id);
    return call?.request.binding.provider === provider && call.stage !== 'waiting' ? call : undefined;
  }
}

/**
 * The name of a call's queue, as the provider chose. A provider of the same name in another session has its own queues.
 */
function queueOf({ binding, tool }: CallRequest): string {
  const { name, instance, scope: session, registration } = binding.provider;
  const { scope = 'instance' } = registration.concurrency;
  if (scope === 'provider') return JSON.stringify({ session, name });
  return JSON.stringify(scope === 'tool' ? { session, name, tool } : { session, name, instance: instance ?? '' });
}

function refusalOf({ binding, tool, signal }: CallRequest): ToolOutcome | undefined {
  const { provider, session, isAway, tools } = binding;
  if (signal.aborted) return failure(ToolErrorCode.Cancelled, 'stopped');
  if (session.isEnding) return failure(ToolErrorCode.Cancelled, 'the session is ending');
  if (isAway || provider.bindings.get(session.id) !== binding)
    return failure(ToolErrorCode.Disconnected, `${provider.title} is not connected`);
  const isOffered = tools.has(tool) && session.isEnabled(provider.name);
  return isOffered ? undefined : failure(ToolErrorCode.NotFound, `there is no tool ${tool} any more`);
}

/** Throws when the answer makes no sense. The call then stays open for a better answer. */
function outcomeIn(message: ProviderToolResultMessage): ToolOutcome {
  try {
    return toolOutcomeOf(message);
  } catch (error) {
    throw error instanceof ProviderRuleError ? new GatewayError(error.code, error.message) : error;
  }
}

export function failure(code: ToolErrorCode, text: string): Extract<ToolOutcome, { kind: 'failure' }> {
  return { kind: 'failure', code, text, retryable: false };
}

function attributesOf({ binding: { provider, session }, tool }: CallRequest): Attributes {
  return { 'ahp.session.id': session.uri, 'atrium.provider': provider.name, 'gen_ai.tool.name': tool };
}

function failureIn(outcome: ToolOutcome): string | undefined {
  return outcome.kind === 'failure' ? outcome.code : undefined;
}

/** A call that wants to run. */
export interface QueuedCall {
  /** How many calls may run in its queue, including this one. */
  readonly max: number;
  begin(): void;
}

interface CallQueue {
  readonly running: Set<QueuedCall>;
  readonly waiting: QueuedCall[];
}

/** Limits how many calls run at once. At most `QUEUED_CALLS_MAX` wait in one queue. Empty queues are not kept. */
export class CallQueues {
  readonly #queues = new Map<string, CallQueue>();

  /** Starts a call, in the same tick if possible, or lets it wait. False when the queue is full. */
  enter(name: string, call: QueuedCall): boolean {
    const queue = this.#queues.get(name) ?? { running: new Set(), waiting: [] };
    const mustWait = queue.waiting.length > 0 || queue.running.size >= call.max;
    if (mustWait && queue.waiting.length >= QUEUED_CALLS_MAX) return false;
    this.#queues.set(name, queue);
    queue.waiting.push(call);
    admit(queue);
    return true;
  }

  /** A call is over, or gave up waiting. */
  remove(name: string, call: QueuedCall): void {
    const queue = this.#queues.get(name);
    if (!queue) return;
    queue.running.delete(call);
    const place = queue.waiting.indexOf(call);
    if (place >= 0) queue.waiting.splice(place, 1);
    admit(queue);
    if (queue.running.size === 0 && queue.waiting.length === 0) this.#queues.delete(name);
  }

  get size(): number {
    return this.#queues.size;
  }
}

/** Reads the queue again each round, because a call may end as soon as it begins and let the next one begin. */
function admit({ running, waiting }: CallQueue): void {
  for (let [next] = waiting; next && running.size < next.max; [next] = waiting) {
    waiting.shift();
    running.add(next);
    next.begin();
  }
}
