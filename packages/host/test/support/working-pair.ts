/** The active host and hosts that work for it, as far as programs go: on real links, without an engine. */

import type { FolderPlaces } from '@atrium/core/contracts/folder-places.js';
import type { HostTerm } from '@atrium/core/log/shared-log.js';
import type { Logger } from '@atrium/core/util/logger.js';
import { onTestFinished } from 'vitest';
import { folderPlaces } from '../../src/cluster/folder-places.js';
import { type LinkServer, listenForLinks } from '../../src/cluster/link.js';
import { reachLent, workLinks } from '../../src/cluster/work-links.js';
import { WorkServer, type WorkServerOptions } from '../../src/cluster/work-server.js';
import { type Worker, WorkingHosts, type WorkingHostsOptions } from '../../src/cluster/working-hosts.js';

export const SECRET = 'the secret of a cluster';
const ANY_PORT = { host: '127.0.0.1', port: 0, secret: SECRET, answer: () => true };

export interface TestWorker {
  readonly work: WorkServer;
  readonly links: LinkServer;
  readonly worker: Worker;
}

interface WorkersOptions {
  readonly me?: HostTerm;
  readonly worksHere?: boolean;
  readonly places?: FolderPlaces;
  /** For the working hosts; by default they see what the active one sees. */
  readonly theirPlaces?: FolderPlaces;
  readonly start?: WorkingHostsOptions['start'];
  readonly startThere?: WorkServerOptions['start'];
}

/** The host `a`, and others with these names that work for it. Lines of the log are kept. */
export async function workingHosts(names: readonly string[], options: WorkersOptions = {}) {
  const { me = { host: 'a', term: 1 }, worksHere = false } = options;
  const places = options.places ?? folderPlaces({ hostId: 'a' });
  const lines: string[] = [];
  const logger: Logger = { log: (_level, text, about) => void lines.push(`${text} ${JSON.stringify(about ?? {})}`) };
  let active: HostTerm = me;
  const own = await listenForLinks({
    ...ANY_PORT,
    serves: workLinks({ work: undefined, programs: () => programs, isActive: async () => false }),
  });
  onTestFinished(() => own.close());
  const isActive = async ({ host, term }: HostTerm) => host === active.host && term === active.term;
  const link = () => ({ ...active, link: `127.0.0.1:${own.port}` });
  const others: TestWorker[] = [];
  for (const host of names) {
    const work = new WorkServer({
      ...{ logger, places: options.theirPlaces ?? places },
      reach: (asker, id) => reachLent(asker, id, { active: link(), secret: SECRET }),
      ...(options.startThere && { start: options.startThere }),
    });
    const links = await listenForLinks({
      ...ANY_PORT,
      serves: workLinks({ work, programs: () => undefined, isActive }),
    });
    onTestFinished(async () => {
      await work.endAll();
      await links.close();
    });
    others.push({ work, links, worker: { host, term: 1, link: `127.0.0.1:${links.port}`, isLeaving: false } });
  }
  let workers = others.map(({ worker }) => worker);
  const programs: WorkingHosts = new WorkingHosts({
    ...{ me, secret: SECRET, logger, places, worksHere, workers: () => workers },
    ...(options.start && { start: options.start }),
  });
  return {
    programs,
    others,
    lines,
    /** What the active host sees of the others from now on. */
    see(now: readonly Worker[]): void {
      workers = [...now];
      programs.looked();
    },
    /** Whom the working hosts take for the active one from now on. */
    activate(host: HostTerm): void {
      active = host;
    },
    /** How many programs run at each of the others. */
    counts: () => others.map(({ work }) => work.programs),
  };
}
