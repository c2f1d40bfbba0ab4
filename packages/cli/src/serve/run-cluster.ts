/**
 * Runs one of several hosts: it stands by and serves clients through the active host, until it becomes the active one.
 */
import type { AgentBackend, Host, HostOptions, Log, Logger } from '@atrium/host';
import {
  type ActiveHost,
  type ActivePlace,
  ClusterNode,
  checkAdmission,
  clusterDeviceKeys,
  clusterView,
  type Edge,
  Engine,
  folderPlaces,
  linkAddress,
  listenForLinks,
  localTextIndex,
  lockDataFolder,
  reachLent,
  startEdge,
  WorkingHosts,
  WorkServer,
  workLinks,
} from '@atrium/host/cluster';
import { makeFolder, makePrivate } from '../data-folder.js';
import { io } from '../io.js';
import { version } from '../places.js';
import type { ClusterSettings } from './cluster-settings.js';
import type { Listener } from './listeners.js';
import { greeting, inTime, openListeners, type StopSignal, stop } from './run-host.js';
import type { ServeSettings } from './settings.js';

interface ClusterRun extends StopSignal {
  readonly logger: Logger;
  readonly agents: readonly AgentBackend[];
  /** Starts a host on the log of the cluster. */
  start(own: Pick<HostOptions, 'log' | 'cluster' | 'folderPlaces' | 'deviceKeys' | 'programs'>): Promise<Host>;
}

export async function serveInCluster(
  settings: ServeSettings,
  cluster: ClusterSettings,
  run: ClusterRun,
): Promise<void> {
  const { dataDir } = settings;
  const { logger } = run;
  await makePrivate(dataDir);
  const unlock = await lockDataFolder(dataDir);
  try {
    await admit(settings, cluster, logger);
    if (cluster.sharedDir !== undefined)
      await makeFolder(cluster.sharedDir, { what: 'the shared folder', option: '--shared-dir' });
    const { url, hostId, drainMs, link, works } = cluster;
    const work =
      link && works
        ? new WorkServer({
            ...{ logger, places: folderPlaces(cluster) },
            reach: (asker, id) => reachLent(asker, id, { active: node.workLink, secret: link.secret }),
          })
        : undefined;
    const node: ClusterNode = new ClusterNode({
      ...{ url, hostId, drainMs, logger, work, version: version(), link: link?.address, secret: link?.secret },
      textIndex: localTextIndex(dataDir),
      startHost: (log, place) => door.letIn(log, place),
      relayedClients: () => door.relayedClients,
    });
    const door = new Door(settings, run, node);
    const links = await openLink(cluster, { node, door, logger, work });
    try {
      await door.standBy();
      const reason = await node.run(run.asked, run.insisted);
      logger.log('info', 'stopped', { reason });
    } finally {
      door.close();
      await links?.close();
    }
  } finally {
    unlock();
  }
}

/** Reports mistakes before it opens anything. */
async function admit({ dataDir }: ServeSettings, cluster: ClusterSettings, logger: Logger): Promise<void> {
  const { url, hostId, token, link, sharedDir } = cluster;
  const engine = new Engine(url, 'admission');
  try {
    const { missing } = await checkAdmission({ engine, hostId, dataDir, token, secret: link?.secret, sharedDir });
    for (const { path } of missing)
      logger.log('warn', 'a shared folder is not here: sessions in it can be read at this host, and not go on', {
        path,
      });
  } finally {
    await engine.close();
  }
}

interface Linked {
  readonly work: WorkServer | undefined;
  readonly node: ClusterNode;
  readonly door: Door;
  readonly logger: Logger;
}

async function openLink({ link }: ClusterSettings, { node, door, logger, work }: Linked) {
  if (!link) {
    const hint = 'with --link-address they know at once, and every host serves clients';
    logger.log('info', 'without a link, the others notice after six seconds when this host dies', { hint });
    return undefined;
  }
  const { host = '', port = 0 } = linkAddress(link.address) ?? {};
  const isLocal = host === 'localhost' || host.startsWith('127.') || host === '::1';
  return listenForLinks({
    ...{ host: isLocal ? host : undefined, port, secret: link.secret },
    answer: (question) => {
      if (question === 'look') node.lookNow();
      return node.isEngineReached;
    },
    takesClients: () => door.relays?.isAccepting ?? false,
    relayed: (stream, client) => door.relays?.takeRelayed(stream, client),
    serves: workLinks({ work, programs: () => door.programs, isActive: (host) => node.isActive(host) }),
  });
}

/** The port for clients. While the host stands by, it passes them on to the active one. */
class Door {
  readonly #settings: ServeSettings;
  readonly #run: ClusterRun;
  readonly #node: ClusterNode;
  #port: number;
  #edge: Edge | undefined;
  #listener: Listener | undefined;
  #programs: WorkingHosts | undefined;
  #hasGreeted = false;

  constructor(settings: ServeSettings, run: ClusterRun, node: ClusterNode) {
    this.#settings = settings;
    this.#run = run;
    this.#node = node;
    this.#port = settings.port;
  }

  /** Accepts clients from other hosts; undefined while the host is not active. */
  get relays(): Listener['relays'] {
    return this.#listener?.relays;
  }

  /** What other hosts run for this one; undefined while it is not active. */
  get programs(): WorkingHosts | undefined {
    return this.#programs;
  }

  get relayedClients(): number {
    return this.#edge?.clients ?? 0;
  }

  async standBy(): Promise<void> {
    const { host, quiet, cluster, tls, policy, behindProxy } = this.#settings;
    const { logger } = this.#run;
    this.#edge = await startEdge({
      ...{ host, port: this.#port, tls, policy, behindProxy, logger, secret: cluster?.link?.secret },
      active: () => this.#node.activeLink,
      state: () => this.#node.readiness.text,
    });
    this.#port = this.#edge.port;
    if (this.#hasGreeted) return;
    this.#hasGreeted = true;
    const words = `Host ${cluster?.hostId} of the cluster at ${cluster?.url.shown} stands by on port ${this.#port}.\n`;
    io().stdout.write(quiet ? `READY:${this.#port}\n` : words);
  }

  async letIn(log: Log, { me, workers }: ActivePlace): Promise<ActiveHost> {
    const { logger, agents } = this.#run;
    const { cluster } = this.#settings;
    const places = cluster && { cluster: clusterView(cluster), folderPlaces: folderPlaces(cluster) };
    const keys = cluster?.link && { deviceKeys: clusterDeviceKeys(cluster.link.secret) };
    const programs =
      cluster?.link &&
      new WorkingHosts({
        ...{ me, logger, workers, secret: cluster.link.secret, worksHere: cluster.works },
        places: folderPlaces(cluster),
      });
    this.#programs = programs;
    const host = await this.#run.start({ log, ...places, ...keys, ...(programs && { programs }) });
    this.close();
    const settings = { ...this.#settings, port: this.#port };
    const { listener, gateway } = await openListeners(settings, host, logger, () => this.#node.readiness);
    this.#listener = listener;
    if (!settings.quiet) io().stdout.write(greeting(settings, { listener, gateway, agents }));
    return {
      host,
      looked: () => programs?.looked(),
      stop: async (isLast) => {
        await inTime(stop(host, listener, gateway)).finally(() => {
          this.#listener = undefined;
          this.#programs = undefined;
        });
        if (!isLast) await this.standBy();
      },
    };
  }

  close(): void {
    this.#edge?.close();
    this.#edge = undefined;
  }
}
