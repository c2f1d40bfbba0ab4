/**
 * What there is to tell a provider while its `hello` is being stored. Everything that it brought is in force already, so
 * a call or a question may come at once; but first of all it hears that it is bound.
 */
import type { ToProviderMessage } from '@atrium/protocol/provider';
import type { ProviderConnection } from './connection.js';
import type { Provider } from './provider.js';

/** The returned function lets everything through. Whoever is lost or leaves meanwhile is told nothing. */
export function holdBack(provider: Provider, connection: ProviderConnection): () => void {
  const held: ToProviderMessage[] = [];
  const keep = (message: ToProviderMessage) => void held.push(message);
  provider.send = keep;
  return () => {
    if (provider.send !== keep) return;
    provider.send = (message) => connection.send(message);
    for (const message of held) connection.send(message);
  };
}
