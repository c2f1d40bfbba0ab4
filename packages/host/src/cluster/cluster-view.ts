/** What a host of a cluster tells its owner about all of them, and how the owner sends one away. */
import type { ClusterHost, ClusterReport } from '@atrium/protocol/ahp-1';
import type { ClusterView } from '../host-options.js';
import { Engine } from '../log-postgres/engine.js';
import type { EngineUrl } from '../log-postgres/engine-url.js';
import { askToDrain, type ClusterStatus, clusterStatus, type HostStatus } from './status.js';

export function clusterView({ url, hostId }: { readonly url: EngineUrl; readonly hostId: string }): ClusterView {
  let looking: Promise<ClusterReport> | undefined;
  const onEngine = async <T>(work: (engine: Engine) => Promise<T>): Promise<T> => {
    const engine = new Engine(url, 'view');
    try {
      return await work(engine);
    } finally {
      await engine.close();
    }
  };
  return {
    host: hostId,
    // Owners who ask at the same time share one look.
    report: () => {
      looking ??= onEngine(async (engine) => reportOf(await clusterStatus(engine))).finally(() => {
        looking = undefined;
      });
      return looking;
    },
    drain: (host) => onEngine((engine) => askToDrain(engine, host)),
  };
}

function reportOf({ hosts, engine, volumes }: ClusterStatus): ClusterReport {
  return { hosts: hosts.map(told), engine, volumes: volumes.map(({ path }) => path) };
}

function told({ id, alive, active, wanted, facts, version, joinedAt }: HostStatus): ClusterHost {
  const count = (name: string) => (alive && typeof facts[name] === 'number' ? facts[name] : 0);
  return {
    ...{ id, version, state: alive ? (active ? 'active' : 'stand-by') : 'gone' },
    ...{ isLeaving: alive && wanted === 'drain', clients: count('clients'), working: count('working') },
    ...(alive && !active && typeof facts.programs === 'number' && { programs: facts.programs }),
    joinedAt: joinedAt.toISOString(),
  };
}
