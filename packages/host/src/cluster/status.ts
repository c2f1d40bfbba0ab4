/** The state of a cluster as seen from outside. */
import { engineVersion } from '../log-postgres/administer.js';
import type { Engine } from '../log-postgres/engine.js';
import { ROOT_OWNER } from '../log-postgres/schema.js';
import { listVolumes, type Volume } from './volumes.js';

export interface HostStatus {
  readonly id: string;
  readonly term: number;
  readonly alive: boolean;
  readonly active: boolean;
  readonly beat: number;
  readonly link: string | null;
  readonly version: string;
  /** `drain` if it was asked to leave. */
  readonly wanted: string | null;
  readonly joinedAt: Date;
  /** Its own report: clients, turns at work. */
  readonly facts: Readonly<Record<string, unknown>>;
}

export interface ClusterStatus {
  readonly hosts: readonly HostStatus[];
  readonly head: number;
  readonly engine: EngineStatus;
  readonly volumes: readonly Volume[];
}

export interface EngineStatus {
  readonly version: number;
  /** How long one question and its answer took, in milliseconds; the median of several. */
  readonly roundTripMs: number;
  /** Replicas that follow, and how many of them every commit waits for. */
  readonly replicas: number;
  readonly synchronous: number;
  readonly bytes: number;
}

const ROUND_TRIPS = 9;

export async function clusterStatus(engine: Engine): Promise<ClusterStatus> {
  const rows = await engine.run<Omit<HostStatus, 'facts'> & { facts: string }>(
    `SELECT h.id, h.term, h.alive, h.beat, h.link, h.version, h.wanted, h.joined_at AS "joinedAt", h.facts,
       o.host IS NOT NULL AS active
     FROM hosts h LEFT JOIN owners o ON o.host = h.id AND o.term = h.term AND o.channel = $1 ORDER BY h.id`,
    [ROOT_OWNER],
  );
  const [head] = await engine.run<{ head: number }>('SELECT last_number() AS head');
  const hosts = rows.map((row) => ({ ...row, facts: JSON.parse(row.facts) as HostStatus['facts'] }));
  return { hosts, head: head?.head ?? 0, engine: await engineStatus(engine), volumes: await listVolumes(engine) };
}

export async function engineStatus(engine: Engine): Promise<EngineStatus> {
  const times: number[] = [];
  for (let count = 0; count < ROUND_TRIPS; count++) {
    const start = performance.now();
    await engine.run('SELECT 1');
    times.push(performance.now() - start);
  }
  times.sort((a, b) => a - b);
  const [row] = await engine.run<{ replicas: number; synchronous: number; bytes: number }>(
    `SELECT (SELECT count(*) FROM pg_stat_replication) AS replicas,
       (SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')) AS synchronous,
       coalesce((SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c
         WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'), 0)::bigint AS bytes`,
  );
  return {
    version: await engineVersion(engine),
    roundTripMs: times[Math.floor(ROUND_TRIPS / 2)] ?? 0,
    ...(row ?? { replicas: 0, synchronous: 0, bytes: 0 }),
  };
}

/** Asks a host to leave in good order. False when no such host is alive. */
export async function askToDrain(engine: Engine, hostId: string): Promise<boolean> {
  const rows = await engine.run("UPDATE hosts SET wanted = 'drain' WHERE id = $1 AND alive RETURNING id", [hostId]);
  return rows.length > 0;
}
