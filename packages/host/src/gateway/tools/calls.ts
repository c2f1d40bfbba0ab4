/** How many calls run at once. The rest wait in line, but not in an endless one. */

import { randomUUID } from 'node:crypto';
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
import type { Clock } from '../../core/util/clock.js';
import type { Attributes } from '../../telemetry/otlp.js';
import { GatewayError } from '../errors.js';
import type { CallTelemetry, Leaving } from '../ports.js';
import type { Binding, Provider } from '../provider.js';

/** One call that wants to run. */
export interface Entrant {
  /** How many may be inside when it begins, itself included. */
  readonly max: number;
  /** It is its turn. */
  begin(): void;
}

interface Line {
  readonly inside: Set<Entrant>;
  readonly waiting: Entrant[];
}

/** Lines by name. One that nobody stands in is not kept. */
export class Lines {
  readonly #lines = new Map<string, Line>();

  /** Lets it begin, in this very tick when there is room. False when the line is too long to stand in. */
  enter(name: string, entrant: Entrant): boolean {
    const line = this.#lines.get(name) ?? { inside: new Set(), waiting: [] };
    const mustWait = line.waiting.length > 0 || line.inside.size >= entrant.max;
    if (mustWait && line.waiting.length >= QUEUED_CALLS_MAX) return false;
    this.#lines.set(name, line);
    line.waiting.push(entrant);
    admit(line);
    return true;
  }

  /** It is done, or does not want to any more. */
  leave(name: string, entrant: Entrant): void {
    const line = this.#lines.get(name);
    if (!line) return;
    line.inside.delete(entrant);
    const place = line.waiting.indexOf(entrant);
    if (place >= 0) line.waiting.splice(place, 1);
    admit(line);
    if (line.inside.size === 0 && line.waiting.length === 0) this.#lines.delete(name);
  }

  get size(): number {
    return this.#lines.size;
  }
}

/** Whoever begins may leave at once, and so let in the next one: each round looks anew. */
function admit({ inside, waiting }: Line): void {
  for (let [next] = waiting; next && inside.size < next.max; [next] = waiting) {
    waiting.shift();
    inside.add(next);
    next.begin();
  }
}

/**
 * Calls that are under way at providers. Each ends exactly once: by the provider's answer, by its silence, by its
 * disappearance, or because nobody wants it any more. What comes later is dropped.
 */

/** However long a tool says that it needs: nobody waits for a silent provider for ever. */
export const TOOL_TIMEOUT_MAX_MS = 60 * 60_000;

export interface CallRequest {
  readonly binding: Binding;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** The turn is over, or a person stopped it. */
  readonly signal: AbortSignal;
  progress(text: string): void;
}

interface Call extends Entrant {
  readonly id: string;
  readonly request: CallRequest;
  readonly line: string;
  /** `waiting`: its provider has not heard of it. `cancelled`: its outcome is known, but the provider is still at it. */
  stage: 'waiting' | 'running' | 'cancelled';
  stopTimer(): void;
  stopListening(): void;
  /** Only the first outcome counts. */
  settle(outcome: ToolOutcome): void;
}

export class Calls {
  readonly #calls = new Map<string, Call>();
  readonly #lines = new Lines();

  constructor(private readonly parts: { readonly clock: Clock; readonly telemetry: CallTelemetry | undefined }) {}

  /** Calls that are not over, for those who look for leaks. */
  get size(): number {
    return this.#calls.size + this.#lines.size;
  }

  call(request: CallRequest): Promise<ToolOutcome> {
    const { telemetry } = this.parts;
    if (!telemetry) return this.#make(request);
    return telemetry.around('atrium.provider.call', attributesOf(request), () => this.#make(request), failureIn);
  }

  #make(request: CallRequest): Promise<ToolOutcome> {
    return new Promise((settle) => {
      const call = this.#callOf(request, settle);
      this.#calls.set(call.id, call);
      if (this.#lines.enter(call.line, call)) return;
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
      line: lineOf(request),
      max: binding.provider.registration.concurrency.max ?? Number.POSITIVE_INFINITY,
      stage: 'waiting',
      begin: () => this.#begin(call),
      stopTimer: () => {},
      stopListening: () => signal.removeEventListener('abort', stopped),
      settle,
    };
    return call;
  }

  /** It waited in line, so what was true when it came need not be true any more. */
  #begin(call: Call): void {
    const refusal = refusalOf(call.request);
    if (refusal) return this.#end(call, refusal);
    const { binding, tool, args } = call.request;
    const wantedMs = binding.tools.get(tool)?.timeout ?? TOOL_TIMEOUT_DEFAULT_MS;
    const timeoutMs = Math.min(wantedMs, TOOL_TIMEOUT_MAX_MS);
    const overdue = failure(ToolErrorCode.Timeout, `no answer in ${timeoutMs / 1_000} s`);
    call.stage = 'running';
    call.stopTimer = this.parts.clock.after(timeoutMs, () => this.#cancel(call, 'timeout', overdue));
    binding.provider.send({ type: 'tool.call', id: call.id, sessionId: binding.sessionId, tool, args });
  }

  /** The model hears at once; the provider keeps its place until it has stopped, but not for ever. */
  #cancel(call: Call, reason: string, outcome: ToolOutcome): void {
    if (call.stage === 'waiting') return this.#end(call, outcome);
    if (call.stage === 'cancelled') return;
    call.stage = 'cancelled';
    call.stopTimer();
    call.stopListening();
    call.settle(outcome);
    call.stopTimer = this.parts.clock.after(CANCELLED_SLOT_RELEASE_MS, () => this.#end(call, outcome));
    const { provider, sessionId } = call.request.binding;
    provider.send({ type: 'tool.cancel', id: call.id, sessionId, reason });
  }

  /** An answer of a provider. One that nobody waits for, or that is about somebody else's call, means nothing. */
  answered(provider: Provider, message: ProviderToolResultMessage): void {
    const call = this.#sentTo(provider, message.id);
    if (call) this.#end(call, outcomeIn(message));
  }

  progressed(provider: Provider, id: string, text: string): void {
    const call = this.#sentTo(provider, id);
    if (call?.stage === 'running') call.request.progress(text);
  }

  /** The provider is gone: nobody will answer, and what it did until now nobody knows. */
  left(provider: Provider, how: Leaving): void {
    const outcome =
      how === 'rebound'
        ? failure(ToolErrorCode.Cancelled, `${provider.title} has bound anew`)
        : failure(ToolErrorCode.Disconnected, `${provider.title} went away; nobody knows how far it came`);
    const lost = [...this.#calls.values()].filter(({ request }) => request.binding.provider === provider);
    // Those in line first: otherwise each of them would begin when the one before it ends.
    for (const stage of ['waiting', 'running', 'cancelled'])
      for (const call of lost) if (call.stage === stage) this.#end(call, outcome);
  }

  #end(call: Call, outcome: ToolOutcome): void {
    if (!this.#calls.delete(call.id)) return;
    call.stopTimer();
    call.stopListening();
    call.settle(outcome);
    this.#lines.leave(call.line, call);
  }

  #sentTo(provider: Provider, id: string): Call | undefined {
    const call = this.#calls.get(id);
    return call?.request.binding.provider === provider && call.stage !== 'waiting' ? call : undefined;
  }
}

/** Who stands in line with whom, as the provider chose. One of the same name in another session is somebody else. */
function lineOf({ binding, tool }: CallRequest): string {
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

/** Throws when the answer says nothing. The call stays open then: its provider can still do better. */
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
