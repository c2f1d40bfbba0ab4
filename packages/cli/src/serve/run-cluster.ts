/** Runs a host that is one of several: it stands by until it is the active one, and opens its port to clients then. */
import {
  type AgentBackend,
  type Health,
  type Host,
  type Log,
  type Logger,
  type StandByServer,
  startStandByServer,
} from '@atrium/host';
import {
  type ActiveHost,
  ClusterNode,
  checkAdmission,
  Engine,
  linkAddress,
  listenForLinks,
  localTextIndex,
  lockDataFolder,
} from '@atrium/host/cluster';
import { makeFolder, makePrivate } from '../data-folder.js';
import { io } from '../io.js';
import { version } from '../places.js';
import type { ClusterSettings } from './cluster-settings.js';
import { greeting, inTime, openListeners, type StopSignal, stop } from './run-host.js';
import type { ServeSettings } from './settings.js';

interface ClusterRun extends StopSignal {
  readonly logger: Logger;
  readonly agents: readonly AgentBackend[];
  /** Starts a host on the log of the cluster. */
  start(log: Log): Promise<Host>;
}

export async function serveInCluster(
  settings: ServeSettings,
  cluster: ClusterSettings,
  run: ClusterRun,
): Promise<void> {
  const { dataDir } = settings;
  const { logger } = run;
  await makePrivate(dataDir);
  if (cluster.sharedDir !== undefined)
    await makeFolder(cluster.sharedDir, { what: 'the shared folder', option: '--shared-dir' });
  const unlock = await lockDataFolder(dataDir);
  try {
    await admit(settings, cluster);
    const door = new Door(settings, run);
    const { url, hostId, drainMs, link } = cluster;
    const node: ClusterNode = new ClusterNode({
      ...{ url, hostId, drainMs, logger, version: version(), link: link?.address, secret: link?.secret },
      textIndex: localTextIndex(dataDir),
      startHost: (log) => door.letIn(log, () => node.readiness),
    });
    const links = await openLink(cluster, node, logger);
    try {
      await door.standBy(() => node.readiness);
      const reason = await node.run(run.asked, run.insisted);
      logger.log('info', 'stopped', { reason });
    } finally {
      await Promise.all([door.close(), links?.close()]);
    }
  } finally {
    unlock();
  }
}

/** What is wrong is said before anything is opened. */
async function admit({ dataDir }: ServeSettings, { url, hostId, token, link }: ClusterSettings): Promise<void> {
  const engine = new Engine(url, 'admission');
  try {
    await checkAdmission({ engine, hostId, dataDir, token, secret: link?.secret });
  } finally {
    await engine.close();
  }
}

async function openLink({ link }: ClusterSettings, node: ClusterNode, logger: Logger) {
  if (!link) {
    const hint = 'with --link-address they know at once';
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
  });
}

/** The port that clients know: closed to them while the host stands by. */
class Door {
  readonly #settings: ServeSettings;
  readonly #run: ClusterRun;
  #port: number;
  #standBy: StandByServer | undefined;
  #hasGreeted = false;

  constructor(settings: ServeSettings, run: ClusterRun) {
    this.#settings = settings;
    this.#run = run;
    this.#port = settings.port;
  }

  async standBy(health: () => Health): Promise<void> {
    const { host, quiet, cluster, tls } = this.#settings;
    this.#standBy = await startStandByServer({ host, port: this.#port, tls, health });
    this.#port = this.#standBy.port;
    if (this.#hasGreeted) return;
    this.#hasGreeted = true;
    const words = `Host ${cluster?.hostId} of the cluster at ${cluster?.url.shown} stands by on port ${this.#port}.\n`;
    io().stdout.write(quiet ? `READY:${this.#port}\n` : words);
  }

  async letIn(log: Log, health: () => Health): Promise<ActiveHost> {
    const { logger, agents } = this.#run;
    const host = await this.#run.start(log);
    await this.close();
    const settings = { ...this.#settings, port: this.#port };
    const { listener, gateway } = await openListeners(settings, host, logger, health);
    if (!settings.quiet) io().stdout.write(greeting(settings, { listener, gateway, agents }));
    return {
      host,
      stop: async (isLast) => {
        await inTime(stop(host, listener, gateway));
        if (!isLast) await this.standBy(health);
      },
    };
  }

  async close(): Promise<void> {
    await this.#standBy?.close();
    this.#standBy = undefined;
  }
}
