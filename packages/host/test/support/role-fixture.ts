/** A host with connections of every role, in every dialect. */
import type { Access, Role } from '@atrium/core/contracts/access.js';
import type { StateAction } from '@atrium/protocol/ahp-1';
import { componentsOf } from './host-components.js';
import { RawClient, startTestHost, type TestHost, type TestHostOptions } from './test-host.js';

/** The versions of the wire, newest first; `1` is the sessions-v1 dialect. */
export const WIRES = ['1.0.0', '0.9.0', '0.7.0', '0.6.0', '0.5.2', '0.5.1', '0.5.0', '0.3.0', '0.2.0', '1'] as const;
export type Wire = (typeof WIRES)[number];

export function access(role: Role, more: Partial<Access> = {}): Access {
  return { role, credential: { kind: 'device', id: `device-${role}`, name: `${role}'s phone` }, ...more };
}

export interface RoleHost extends TestHost {
  /** A client of this access that speaks this wire, after its handshake. */
  as(access: Access, wire?: Wire, params?: object): Promise<RawClient>;
}

let clients = 0;

export async function roleHost(options: TestHostOptions = {}): Promise<RoleHost> {
  const host = await startTestHost(options);
  return {
    ...host,
    async as(given, wire = '1.0.0', params = {}) {
      const client = new RawClient();
      host.host.connect(client.transport, given);
      const clientId = `role-client-${++clients}`;
      if (wire === '1') {
        client.clientId = clientId;
        const initialSubscriptions = ['agenthost:/root'];
        await client.request('initialize', { protocolVersion: 1, clientId, initialSubscriptions, ...params });
      } else await client.initialize(clientId, { protocolVersions: [wire], ...params });
      return client;
    },
  };
}

/** What reached a handler or a channel, by method and by type. */
export interface Reached {
  readonly methods: string[];
  readonly actions: StateAction[];
}

/** Notes what gets through, and lets nothing happen. */
export function watched({ host }: TestHost): Reached {
  const { wire } = componentsOf(host);
  const reached: Reached = { methods: [], actions: [] };
  const through = new Set(['subscribe', 'ping']);
  const { requests } = wire;
  const answer = requests.answer.bind(requests);
  requests.answer = (connection, method, params) => {
    reached.methods.push(method);
    return through.has(method) ? answer(connection, method, params) : null;
  };
  const open = wire.open.bind(wire);
  Object.assign(wire, {
    open: async (uri: string) => {
      const channel = await open(uri);
      return (
        channel && {
          channel: channel.channel,
          takeSnapshot: channel.takeSnapshot.bind(channel),
          ...(channel.leastRole && { leastRole: channel.leastRole.bind(channel) }),
          dispatch: async (action: StateAction) => void reached.actions.push(action),
        }
      );
    },
  });
  return reached;
}
