/**
 * Changes of a registration. Each is judged as a whole, put into force in every session it is about, and acknowledged
 * once it is stored: what the gateway sends after the acknowledgement knows the change.
 */
import { GatewayErrorCode } from '@atrium/protocol/provider';
import { GatewayError } from './gateway-error.js';
import type { Binding, Provider } from './provider.js';
import { bindingsFor } from './scope.js';
import type { GatewayCore } from './service.js';

interface UpdateMessage {
  readonly type: string;
  readonly requestId?: string;
  readonly sessionId?: string;
}

export interface Update {
  /** Throws when the change is not possible in this session. Changes nothing. */
  check?(binding: Binding): void;
  apply(binding: Binding): void;
}

export function applyUpdate(core: GatewayCore, provider: Provider, message: UpdateMessage, update: Update): void {
  const { type, requestId, sessionId } = message;
  const bindings = bindingsFor(provider, sessionId);
  const isBusy = bindings.some(({ updating }) => updating.has(type));
  if (isBusy)
    throw new GatewayError(GatewayErrorCode.RateLimited, `another ${type} is not acknowledged yet: wait for it`);
  for (const binding of bindings) update.check?.(binding);
  for (const binding of bindings) {
    update.apply(binding);
    binding.revision += 1;
    binding.updating.add(type);
    binding.room.changed(provider.name);
  }
  const revisions = bindings.map((binding) => ({ binding, revision: binding.revision }));
  const acknowledge = () => {
    for (const { binding, revision } of revisions) {
      binding.updating.delete(type);
      if (provider.bindings.get(binding.sessionId) !== binding) continue;
      provider.send({
        type: 'ack',
        ...(requestId !== undefined && { requestId }),
        sessionId: binding.sessionId,
        revision,
      });
    }
  };
  void core.settled().then(acknowledge, acknowledge);
}
