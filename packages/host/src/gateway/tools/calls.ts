/**
 * Calls that are under way at providers. Each ends exactly once: by the provider's answer, by its silence, by its
 * disappearance, or because nobody wants it any more. What comes later is dropped.
 */
import { randomUUID } from 'node:crypto';
import {
  CANCELLED_SLOT_RELEASE_MS,
  type ProviderConcurrency,
  type ProviderToolResultMessage,
  TOOL_TIMEOUT_DEFAULT_MS,
  ToolErrorCode,
  type ToolOutcome,
  toolOutcomeOf,
} from '@atrium/protocol/provider';
import type { Binding, Provider } from '../provider.js';
import type { GatewayCore, Leaving } from '../service.js';
import { type Slot, Slots } from './slots.js';

export interface CallRequest {
  readonly binding: Binding;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** The turn is over, or a person stopped it. */
  readonly signal: AbortSignal;
  progress(text: string): void;
}

interface Running {
  readonly request: CallRequest;
  readonly slot: Slot;
  /** The outcome is settled; the provider has yet to say that it stopped. */
  isCancelled: boolean;
  settle(outcome: ToolOutcome): void;
  stopTimers(): void;
}

export class Calls {
  readonly #running = new Map<string, Running>();
  readonly #slots = new Map<string, Slots>();
  /** Fires for everything that still waits in line for a provider. */
  readonly #leaving = new WeakMap<Provider, AbortController>();

  constructor(private readonly core: GatewayCore) {}

  async call(request: CallRequest): Promise<ToolOutcome> {
    const { binding, signal } = request;
    if (binding.room.isEnding) return failure(ToolErrorCode.Cancelled, 'the session is ending');
    const leaving = this.#leavingOf(binding.provider);
    const place = this.#slotsFor(request).take(AbortSignal.any([signal, leaving.signal]));
    if (!place) return failure(ToolErrorCode.RateLimited, 'too many calls are waiting for this provider: call later');
    const slot = await place.catch(() => undefined);
    if (!slot) return (leaving.signal.reason as ToolOutcome | undefined) ?? failure(ToolErrorCode.Cancelled, 'stopped');
    const refusal = refusalOf(request);
    if (!refusal) return this.#send(request, slot);
    slot.release();
    return refusal;
  }

  #send(request: CallRequest, slot: Slot): Promise<ToolOutcome> {
    const { binding, tool, args, signal } = request;
    const id = randomUUID();
    return new Promise((resolve) => {
      const timeoutMs = binding.tools.get(tool)?.timeout ?? TOOL_TIMEOUT_DEFAULT_MS;
      const stopTimer = this.core.clock.after(timeoutMs, () =>
        this.#cancel(id, 'timeout', failure(ToolErrorCode.Timeout, `no answer in ${timeoutMs / 1_000} s`)),
      );
      const interrupted = () => this.#cancel(id, 'interrupted', failure(ToolErrorCode.Cancelled, 'stopped'));
      signal.addEventListener('abort', interrupted, { once: true });
      const stopTimers = () => {
        stopTimer();
        signal.removeEventListener('abort', interrupted);
      };
      this.#running.set(id, { request, slot, isCancelled: false, settle: resolve, stopTimers });
      binding.provider.send({ type: 'tool.call', id, sessionId: binding.sessionId, tool, args });
    });
  }

  /** The model hears at once; the provider keeps its place until it has stopped, but not for ever. */
  #cancel(id: string, reason: string, outcome: ToolOutcome): void {
    const running = this.#running.get(id);
    if (!running || running.isCancelled) return;
    running.isCancelled = true;
    running.stopTimers();
    running.settle(outcome);
    const { binding } = running.request;
    binding.provider.send({ type: 'tool.cancel', id, sessionId: binding.sessionId, reason });
    running.stopTimers = this.core.clock.after(CANCELLED_SLOT_RELEASE_MS, () => this.#end(id, running));
  }

  /** An answer of a provider. One that nobody waits for, or that is about somebody else's call, means nothing. */
  answered(provider: Provider, message: ProviderToolResultMessage): ToolOutcome | undefined {
    const running = this.#of(provider, message.id);
    if (!running) return undefined;
    const outcome = toolOutcomeOf(message);
    this.#end(message.id, running);
    if (!running.isCancelled) running.settle(outcome);
    return outcome;
  }

  progressed(provider: Provider, id: string, text: string): void {
    const running = this.#of(provider, id);
    if (running && !running.isCancelled) running.request.progress(text);
  }

  /** The provider is gone: nobody will answer. */
  left(provider: Provider, how: Leaving): void {
    const outcome =
      how === 'rebound'
        ? failure(ToolErrorCode.Cancelled, `${provider.title} has bound anew`)
        : failure(ToolErrorCode.Disconnected, `${provider.title} went away; nobody knows how far it came`);
    this.#leaving.get(provider)?.abort(outcome);
    this.#leaving.delete(provider);
    for (const [id, running] of this.#running) {
      if (running.request.binding.provider !== provider) continue;
      this.#end(id, running);
      if (!running.isCancelled) running.settle(outcome);
    }
  }

  #end(id: string, running: Running): void {
    this.#running.delete(id);
    running.stopTimers();
    running.slot.release();
  }

  #of(provider: Provider, id: string): Running | undefined {
    const running = this.#running.get(id);
    return running?.request.binding.provider === provider ? running : undefined;
  }

  #leavingOf(provider: Provider): AbortController {
    const controller = this.#leaving.get(provider) ?? new AbortController();
    this.#leaving.set(provider, controller);
    return controller;
  }

  #slotsFor({ binding, tool }: CallRequest): Slots {
    const { provider } = binding;
    const { concurrency } = provider.registration;
    const key = slotsKey(provider, concurrency, tool);
    const slots = this.#slots.get(key) ?? new Slots(concurrency.max);
    this.#slots.set(key, slots);
    return slots;
  }

  /** Its counters are not needed any more. */
  forget(provider: Provider): void {
    for (const key of this.#slots.keys()) if (key.startsWith(`${provider.providerId}/`)) this.#slots.delete(key);
  }
}

function slotsKey({ name, providerId }: Provider, { max, scope }: ProviderConcurrency, tool: string): string {
  if (scope === 'provider') return `provider/${name}/${max ?? ''}`;
  return scope === 'tool' ? `${providerId}/${tool}` : `${providerId}/`;
}

/** It waited in line; meanwhile the tool may have been taken away, or the session may have begun to end. */
function refusalOf({ binding, tool, signal }: CallRequest): ToolOutcome | undefined {
  if (signal.aborted) return failure(ToolErrorCode.Cancelled, 'stopped');
  if (binding.room.isEnding) return failure(ToolErrorCode.Cancelled, 'the session is ending');
  if (binding.isAway) return failure(ToolErrorCode.Disconnected, `${binding.provider.title} is not connected`);
  return binding.tools.has(tool) ? undefined : failure(ToolErrorCode.NotFound, `there is no tool ${tool} any more`);
}

export function failure(code: ToolErrorCode, text: string): Extract<ToolOutcome, { kind: 'failure' }> {
  return { kind: 'failure', code, text, retryable: false };
}
