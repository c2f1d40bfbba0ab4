/** What follows when a client leaves: at once, and when it has not come back in time. */

import type { Watching } from '../channels/watching.js';
import type { HostCore } from '../contracts/host-core.js';
import { abandonCalls, dropAbsentClient } from '../sessions/mending.js';
import type { RegistryOptions } from './connection-registry.js';

type Departures = Pick<RegistryOptions, 'left' | 'lost' | 'gone'>;

export function departures(core: HostCore & { readonly watching: Watching }): Departures {
  return {
    left: (connection) => {
      core.watching.left(connection);
      for (const service of core.services) service.left?.(connection);
    },
    // The role of active client ends with the connection; its calls get a grace period.
    lost: () => {
      for (const session of core.sessions.inMemory.values()) dropAbsentClient(session);
    },
    gone: (clientId) => {
      core.clients.forget(clientId);
      for (const session of core.sessions.inMemory.values()) abandonCalls(session, clientId);
    },
  };
}
