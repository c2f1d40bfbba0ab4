/** `atrium doctor --cluster`: looks at the engine, the shared folders and the other hosts, and says what to do. */
import { readFile } from 'node:fs/promises';
import {
  askLink,
  ClusterError,
  type ClusterStatus,
  checkedMeta,
  clusterStatus,
  Engine,
  type HostStatus,
  volumeState,
} from '@atrium/host/cluster';
import { type Finding, fine, problem, warning } from '../doctor-checks.js';
import { engineFrom } from '../serve/cluster-settings.js';

/** A commit waits for the engine: people notice longer round trips. In milliseconds. */
export const ROUND_TRIP_SLOW_MS = 10;

export async function examineCluster(env: NodeJS.ProcessEnv, secretFile: string | undefined): Promise<Finding[]> {
  const engine = new Engine(engineFrom(env), 'doctor');
  try {
    await checkedMeta(engine);
    const status = await clusterStatus(engine);
    const safety = await engine.run<{ fsync: string; isolation: string }>(
      `SELECT current_setting('fsync') AS fsync, current_setting('transaction_isolation') AS isolation`,
    );
    return [
      ...checkEngine(engine, status),
      ...safety.flatMap(({ fsync }) => (fsync === 'on' ? [] : [NO_FSYNC])),
      checkReplicas(status),
      ...(await checkFolders(status)),
      ...(await checkHosts(status, secretFile)),
    ];
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    const remedy =
      error instanceof ClusterError
        ? 'Do that, and look again'
        : 'Check ATRIUM_CLUSTER_URL, the password and the network';
    return [problem('engine', text, remedy)];
  } finally {
    await engine.close();
  }
}

const NO_FSYNC = problem('engine', 'fsync is off: a power cut destroys its data', 'Set fsync = on in postgresql.conf');

function checkEngine({ url }: Engine, { engine: { version, roundTripMs } }: ClusterStatus): Finding[] {
  const about = `PostgreSQL ${version} at ${url.shown}, ${roundTripMs.toFixed(1)} ms away`;
  if (roundTripMs < ROUND_TRIP_SLOW_MS) return [fine('engine', about)];
  return [warning('engine', about, 'Every action waits for it: bring hosts and engine closer together')];
}

function checkReplicas({ engine: { replicas, synchronous } }: ClusterStatus): Finding {
  if (synchronous > 0) return fine('replicas', `${synchronous} synchronous: nothing is lost with the engine's machine`);
  const text = replicas > 0 ? `${replicas}, none of them synchronous` : 'none';
  return warning(
    'replicas',
    `${text}: what the engine loses is lost`,
    'Set synchronous_standby_names, or use a managed engine that does',
  );
}

async function checkFolders({ volumes }: ClusterStatus): Promise<Finding[]> {
  if (volumes.length === 0)
    return [
      warning(
        'volumes',
        'no shared folder',
        'Sessions of a folder that only one machine has cannot go on elsewhere: atrium cluster volume <folder>',
      ),
    ];
  return Promise.all(
    volumes.map(async (volume) => {
      const state = await volumeState(volume);
      if (state === 'seen') return fine('volumes', volume.path);
      const text =
        state === 'missing' ? `${volume.path} is not here` : `${volume.path} is another folder than on the other hosts`;
      return problem('volumes', text, 'Mount the shared folder there');
    }),
  );
}

async function checkHosts({ hosts }: ClusterStatus, secretFile: string | undefined): Promise<Finding[]> {
  const living = hosts.filter(({ alive }) => alive);
  const active = living.find((host) => host.active);
  const secret = secretFile === undefined ? undefined : (await readFile(secretFile, 'utf8')).trim();
  return [
    active ? fine('active', active.id) : problem('active', 'no host is active', 'Start one: atrium serve --cluster'),
    living.length > 1
      ? fine('stand-by', living.flatMap((host) => (host.active ? [] : host.id)).join(', '))
      : warning('stand-by', 'none: nobody takes over', 'Start another host: atrium serve --cluster'),
    ...checkWork(living),
    ...(secret === undefined ? [] : await Promise.all(living.map((host) => checkLink(host, secret)))),
  ];
}

/** Says nothing where hosts only stand by. */
function checkWork(living: readonly HostStatus[]): Finding[] {
  const works = living.filter(({ active, facts }) => !active && typeof facts.work === 'number');
  const active = living.find((host) => host.active);
  return works.length > 0 ? [fine('work', `${works.map(({ id }) => id).join(', ')} run agents for ${active?.id}`)] : [];
}

async function checkLink({ id, link }: HostStatus, secret: string): Promise<Finding> {
  if (link === null)
    return warning(
      'links',
      `${id} has none: the others notice its death after six seconds`,
      'Start it with --link-address',
    );
  const answer = await askLink(link, secret, 'engine');
  if (answer === 'yes' || answer === 'no') return fine('links', `${id} answers at ${link}`);
  if (answer === 'stranger')
    return problem('links', `${id} at ${link} has another secret`, 'Give all hosts the same --cluster-secret-file');
  return problem('links', `${id} cannot be reached at ${link} (${answer})`, 'Check --link-address and the firewall');
}
