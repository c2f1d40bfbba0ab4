/**
 * Updates of a registration. The gateway judges each as a whole, applies it in all its sessions, and acknowledges it
 * once it is stored. Everything the gateway sends after the acknowledgement respects the update.
 */

import type { Clock } from '@atrium/core/util/clock.js';
import { RateLimit } from '@atrium/core/util/scheduling.js';
import { GatewayErrorCode, type ProviderAckMessage } from '@atrium/protocol/provider';
import { GatewayError } from './gateway-errors.js';
import type { Commits } from './ports.js';
import { type Binding, bindingsFor, type Provider } from './provider.js';

/** For each type, provider and session. Most updates change the session for every client, and are stored. */
export const UPDATES_PER_MINUTE_MAX = 60;
const MINUTE_MS = 60_000;

interface UpdateMessage {
  readonly type: string;
  readonly requestId?: string;
  readonly sessionId?: string;
}

export interface Update {
  /** Throws when the update is not possible in this session. Changes nothing. */
  check?(binding: Binding): void;
  apply(binding: Binding): void;
  /** What the session's agent cannot honour of the update. */
  degraded?(binding: Binding): readonly string[];
}

export class Updates {
  readonly #commits: Commits;
  readonly #rates: RateLimit;

  constructor({ clock, commits }: { readonly clock: Clock; readonly commits: Commits }) {
    this.#commits = commits;
    this.#rates = new RateLimit(clock, UPDATES_PER_MINUTE_MAX, MINUTE_MS);
  }

  /** Throws when the update is not possible in one of the sessions, and then applies it in none. */
  apply(provider: Provider, message: UpdateMessage, update: Update): void {
    const { type, sessionId } = message;
    const bindings = bindingsFor(provider, sessionId);
    if (bindings.some(({ updating }) => updating.has(type)))
      throw new GatewayError(GatewayErrorCode.RateLimited, `another ${type} is not acknowledged yet: wait for it`);
    for (const binding of bindings) this.#count(binding, type);
    for (const binding of bindings) update.check?.(binding);
    for (const binding of bindings) {
      update.apply(binding);
      binding.revision += 1;
      binding.updating.add(type);
      binding.session.changed(provider.name);
    }
    this.#acknowledge(bindings, message, update);
  }

  /** By name, not by connection, because reconnecting must not reset the count. */
  #count({ sessionId, provider }: Binding, type: string): void {
    if (this.#rates.take(JSON.stringify([sessionId, provider.name, type]))) return;
    const what = `at most ${UPDATES_PER_MINUTE_MAX} ${type} a minute: wait, then send the latest state`;
    throw new GatewayError(GatewayErrorCode.RateLimited, what, sessionId);
  }

  #acknowledge(bindings: readonly Binding[], { type, requestId }: UpdateMessage, update: Update): void {
    const acks = bindings.map((binding) => ({ binding, ack: ackOf(binding, requestId, update) }));
    const acknowledge = () => {
      for (const { binding, ack } of acks) {
        binding.updating.delete(type);
        const { provider, sessionId } = binding;
        if (provider.bindings.get(sessionId) === binding) provider.send(ack);
      }
    };
    void this.#commits.settled().then(acknowledge, acknowledge);
  }
}

/** Built before it is sent, because the next update may be in force by then. */
function ackOf(binding: Binding, requestId: string | undefined, { degraded }: Update): ProviderAckMessage {
  const { sessionId, revision } = binding;
  const missing = degraded?.(binding) ?? [];
  return {
    type: 'ack',
    ...(requestId !== undefined && { requestId }),
    sessionId,
    revision,
    ...(missing.length > 0 && { degraded: [...missing] }),
  };
}
