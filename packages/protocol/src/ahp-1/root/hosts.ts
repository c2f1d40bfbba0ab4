/** The hosts of a cluster: methods of our own beside the protocol, for the owner. */

/** Lists the hosts, the engine and the shared folders. */
export const HOSTS_METHOD = 'atrium/hosts';
/** Asks a host to leave when its turns have ended. */
export const DRAIN_HOST_METHOD = 'atrium/drainHost';
/** The member of the handshake that tells the owner of a cluster which host answers. */
export const CLUSTER_MEMBER = 'atrium/cluster';

export const HOST_STATES = ['active', 'stand-by', 'gone'] as const;
export type HostState = (typeof HOST_STATES)[number];

export interface ClusterHost {
  readonly id: string;
  readonly state: HostState;
  /** It has been asked to leave. */
  readonly isLeaving: boolean;
  /** At the active host, all that it serves; at another host, those that connected through it. */
  readonly clients: number;
  /** Sessions with a turn running on that host. */
  readonly working: number;
  /** Programs of agents that it runs for the active host; absent at a host that does not work for it. */
  readonly programs?: number;
  readonly version: string;
  /** When it joined, in ISO 8601. */
  readonly joinedAt: string;
}

export interface ClusterReport {
  readonly hosts: readonly ClusterHost[];
  readonly engine: {
    readonly version: number;
    readonly roundTripMs: number;
    readonly bytes: number;
    /** Replicas that follow, and how many of them every commit waits for. */
    readonly replicas: number;
    readonly synchronous: number;
  };
  /** The folders that all hosts share, as paths. */
  readonly volumes: readonly string[];
}

/** Reads an answer; undefined when it is not valid. */
export function readClusterReport(answer: unknown): ClusterReport | undefined {
  const { hosts, engine, volumes } = (answer ?? {}) as Partial<Record<keyof ClusterReport, unknown>>;
  const isReport = Array.isArray(hosts) && Array.isArray(volumes) && typeof engine === 'object' && engine !== null;
  return isReport ? ({ hosts: hosts.filter(isHost), engine, volumes } as ClusterReport) : undefined;
}

function isHost(item: unknown): item is ClusterHost {
  const { id, state } = (item ?? {}) as Partial<Record<keyof ClusterHost, unknown>>;
  return typeof id === 'string' && HOST_STATES.some((each) => each === state);
}
