/**
 * What a host needs to join: the tables of its own cluster, the token and the secret of the other hosts, and the shared
 * folders. The engine holds digests of the secrets, never the secrets.
 */
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ClusterError, checkedMeta } from '../log-postgres/administer.js';
import type { Engine } from '../log-postgres/engine.js';
import { checkVolumes, type Volume } from './volumes.js';

/** In the data folder of a host: the cluster that it belongs to. */
export const CLUSTER_FILE = 'cluster.json';

export interface AdmissionOptions {
  readonly engine: Engine;
  readonly hostId: string;
  readonly dataDir: string;
  readonly token: string;
  readonly secret?: string | undefined;
  /** The folder for contents that all hosts see. */
  readonly sharedDir?: string | undefined;
}

export interface Admitted {
  /** Shared folders that this machine does not see. */
  readonly missing: readonly Volume[];
}

/** Throws a `ClusterError` that names the remedy. */
export async function checkAdmission(options: AdmissionOptions): Promise<Admitted> {
  const { engine, hostId, dataDir, token, secret, sharedDir } = options;
  const { cluster } = await checkedMeta(engine);
  await checkOwnCluster(dataDir, cluster, engine.url.shown);
  await checkDigest(engine, hostId, {
    column: 'token_digest',
    digest: digestOf(cluster, token),
    what: 'connection token',
    remedy: '--connection-token-file',
  });
  if (secret !== undefined)
    await checkDigest(engine, hostId, {
      column: 'secret_digest',
      digest: digestOf(cluster, secret),
      what: 'cluster secret',
      remedy: '--cluster-secret-file',
    });
  return { missing: await checkVolumes(engine, sharedDir) };
}

/** A data folder belongs to one cluster, because contents of different clusters' sessions must not mix. */
async function checkOwnCluster(dataDir: string, cluster: string, shown: string): Promise<void> {
  const file = path.join(dataDir, CLUSTER_FILE);
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return writeFile(file, `${JSON.stringify({ cluster })}\n`, { mode: 0o600 });
  const known: unknown = JSON.parse(text);
  const before = typeof known === 'object' && known !== null && 'cluster' in known ? known.cluster : undefined;
  if (before === cluster) return;
  throw new ClusterError(
    `${shown} is not the cluster that this data folder belongs to: correct ATRIUM_CLUSTER_URL, or choose another --data-dir`,
  );
}

interface Digest {
  readonly column: 'token_digest' | 'secret_digest';
  readonly digest: string;
  readonly what: string;
  readonly remedy: string;
}

/** The first host sets the digest; while other hosts live, theirs counts. */
async function checkDigest(engine: Engine, hostId: string, { column, digest, what, remedy }: Digest): Promise<void> {
  const [row] = await engine.run<{ fits: boolean }>(
    `WITH others AS (SELECT 1 FROM hosts WHERE alive AND id <> $2),
       written AS (
         UPDATE meta SET ${column} = $1
         WHERE ${column} IS NULL OR (${column} <> $1 AND NOT EXISTS (SELECT 1 FROM others)) RETURNING 1)
     SELECT EXISTS (SELECT 1 FROM written) OR ${column} = $1 AS fits FROM meta`,
    [digest, hostId],
  );
  if (row?.fits) return;
  // A host that started at the same time may have written it without the statement above seeing that.
  const [now] = await engine.run<{ fits: boolean }>(`SELECT ${column} = $1 AS fits FROM meta`, [digest]);
  if (!now?.fits)
    throw new ClusterError(
      `the other hosts have another ${what}: give this one the same with ${remedy}, or stop them all first`,
    );
}

/** The digest of a long random text. Including the cluster's name makes digests of two clusters incomparable. */
function digestOf(cluster: string, secret: string): string {
  return createHash('sha256').update(`${cluster}\0${secret}`).digest('base64url');
}
