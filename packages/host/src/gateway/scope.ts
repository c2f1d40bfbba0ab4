/** Which of a provider's sessions a message is about. */
import { invalidSession, shown } from './gateway-error.js';
import type { Binding, Provider } from './provider.js';

/** The one that is named; without a name, all of them. */
export function bindingsFor(provider: Provider, sessionId: string | undefined): Binding[] {
  const bindings = [...provider.bindings.values()];
  return sessionId === undefined ? bindings : [bindingIn(provider, sessionId)];
}

/** The one that is named; without a name, the only one there can be. */
export function bindingFor(provider: Provider, sessionId: string | undefined): Binding {
  if (sessionId !== undefined) return bindingIn(provider, sessionId);
  const [only] = provider.bindings.values();
  if (provider.isEverywhere || !only) throw invalidSession('name the session: this provider is bound to all of them');
  return only;
}

function bindingIn(provider: Provider, sessionId: string): Binding {
  const binding = provider.bindings.get(sessionId);
  if (!binding) throw invalidSession(`you are not bound to a session ${shown(sessionId)}`, sessionId);
  return binding;
}
