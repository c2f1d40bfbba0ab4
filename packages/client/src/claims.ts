/** The claims of this client to the active role: each carries the offer to rewrite prompt sections, if there is one. */
import {
  type AgentInfo,
  type CreateSessionParams,
  ROOT_CHANNEL,
  type RootState,
  type SessionState,
  type StateAction,
} from '@atrium/protocol';
import type { Store } from './store.js';
import { type SystemMessageTransform, withOffer } from './transform.js';

export class Claims {
  readonly #store: Store;
  readonly #transform: SystemMessageTransform | undefined;

  constructor(store: Store, transform: SystemMessageTransform | undefined) {
    this.#store = store;
    this.#transform = transform;
  }

  /** The action to send for one that a user asked for. */
  action(uri: string, action: StateAction): StateAction {
    if (!this.#transform || action.type !== 'session/activeClientChanged') return action;
    const { activeClient } = action;
    if (activeClient?.clientId !== this.#store.clientId) return action;
    const session = this.#store.find(uri)?.optimistic as SessionState | undefined;
    const agents = this.#agents(session?.summary?.provider);
    return { ...action, activeClient: withOffer(activeClient, this.#transform, agents) };
  }

  /** Likewise for a session that begins with an active client. */
  session<P extends Partial<CreateSessionParams>>(params: P): P {
    const { activeClient, provider } = params;
    if (!this.#transform || activeClient?.clientId !== this.#store.clientId) return params;
    const agents = provider === undefined ? this.#agents().slice(0, 1) : this.#agents(provider);
    return { ...params, activeClient: withOffer(activeClient, this.#transform, agents) };
  }

  /** The agent of this name; all of them when it is not known which. Hosts pass over ids that an agent does not have. */
  #agents(provider?: string): readonly AgentInfo[] {
    const root = this.#store.find(ROOT_CHANNEL)?.optimistic as RootState | undefined;
    const agents = root?.agents ?? [];
    return provider === undefined ? agents : agents.filter((agent) => agent.provider === provider);
  }
}
