/** Who is connected and what is under way, in numbers. */

import type { Service } from '@atrium/core/sessions/service.js';
import type { Sessions } from '@atrium/core/sessions/sessions.js';
import type { ConnectionRegistry } from '@atrium/core/wire/connections.js';
import type { Gateway } from './gateway/gateway.js';
import type { HostActivity } from './host-options.js';

interface Sources {
  readonly connections: ConnectionRegistry;
  readonly gateway: Gateway;
  readonly sessions: Sessions;
  readonly services: readonly Service[];
}

export function activityOf({ connections, gateway, sessions, services }: Sources): HostActivity {
  const providers = [...gateway.connections];
  return {
    clients: [...connections.all()].length,
    providers: providers.length,
    ownProviders: providers.filter(({ access }) => access?.trust === 'project').length,
    working: [...sessions.inMemory.values()].filter(({ isWorkedOnHere }) => isWorkedOnHere).length,
    terminals: services.reduce((sum, { running = 0 }) => sum + running, 0),
    automations: services.reduce((sum, { awaited = 0 }) => sum + awaited, 0),
  };
}
