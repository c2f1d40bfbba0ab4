/** `atrium/hosts` and `atrium/drainHost`: the owner of a cluster looks at its hosts, and sends one away. */
import type { Caller } from '@atrium/core/contracts/ports.js';
import { RequestError } from '@atrium/core/contracts/request-error.js';
import { LogUnavailableError } from '@atrium/core/log/log.js';
import type { Service } from '@atrium/core/sessions/service.js';
import { CLUSTER_MEMBER, DRAIN_HOST_METHOD, ErrorCode, HOSTS_METHOD } from '@atrium/protocol/ahp-1';
import type { ClusterView } from './host-options.js';

type Params = Readonly<Record<string, unknown>>;

export function hostsService(cluster: ClusterView): Service {
  return {
    // A look takes a dozen statements of the engine: what the page sends meanwhile must not wait behind it.
    lanes: { [HOSTS_METHOD]: 'aside', [DRAIN_HOST_METHOD]: 'aside' },
    greeting: { [CLUSTER_MEMBER]: { host: cluster.host } },
    extensionRequests: {
      [HOSTS_METHOD]: () => answered(cluster.report()),
      [DRAIN_HOST_METHOD]: async (_caller: Caller, { host }: Params) => {
        if (typeof host !== 'string') throw new RequestError(ErrorCode.InvalidParams, '/host must be the id of a host');
        if (await answered(cluster.drain(host))) return null;
        throw new RequestError(ErrorCode.InvalidParams, `/host: no host ${host} is running`);
      },
    },
  };
}

async function answered<T>(asked: Promise<T>): Promise<T> {
  return asked.catch((error) => {
    if (!(error instanceof LogUnavailableError)) throw error;
    throw new RequestError(ErrorCode.InternalError, 'the engine of the cluster cannot be reached now: try again');
  });
}
