/**
 * Work on a cluster's tables as a whole: creating them, reading their level, checking whether this host may use them.
 */
import { randomBytes } from 'node:crypto';
import type { Engine } from './engine.js';
import { createStatements, SCHEMA_LEVEL, upgradeStatements } from './schema.js';

/** The oldest PostgreSQL that Atrium is tested with. */
export const ENGINE_VERSION_MIN = 15;
const UNDEFINED_TABLE = '42P01';
const INVALID_SCHEMA = '3F000';

/** The cluster is unusable, or not usable by this host. The message says what to do. */
export class ClusterError extends Error {
  override readonly name = 'ClusterError';
}

export interface ClusterMeta {
  /** A random name, by which a host recognises its cluster. */
  readonly cluster: string;
  readonly level: number;
}

/** Creates the tables, or upgrades those of an earlier release. Returns what it did. */
export async function initCluster(engine: Engine): Promise<'made' | 'upgraded' | 'present'> {
  await checkVersion(engine);
  const before = await readMeta(engine);
  if (before && before.level > SCHEMA_LEVEL) throw newer(before.level);
  if (before?.level === SCHEMA_LEVEL) return 'present';
  const { schema } = engine.url;
  return engine.transaction('write', async (run) => {
    if (before) {
      await run(upgradeStatements(schema, before.level));
      await run('UPDATE meta SET level = $1', [SCHEMA_LEVEL]);
      return 'upgraded';
    }
    await run(createStatements(schema));
    const cluster = randomBytes(12).toString('base64url');
    await run('INSERT INTO meta (id, level, cluster, timeline) VALUES (1, $1, $2, timeline())', [
      SCHEMA_LEVEL,
      cluster,
    ]);
    return 'made';
  });
}

/** The cluster's name and level; undefined when there are no tables. */
export async function readMeta(engine: Engine): Promise<ClusterMeta | undefined> {
  try {
    const [meta] = await engine.run<ClusterMeta>('SELECT cluster, level FROM meta');
    return meta;
  } catch (error) {
    if (error instanceof Error && 'code' in error && [UNDEFINED_TABLE, INVALID_SCHEMA].includes(String(error.code)))
      return undefined;
    throw error;
  }
}

/** Throws when this host cannot work with the tables. */
export async function checkedMeta(engine: Engine): Promise<ClusterMeta> {
  await checkVersion(engine);
  const meta = await readMeta(engine);
  if (!meta) throw new ClusterError(`${engine.url.shown} has no tables of Atrium: run atrium cluster init`);
  if (meta.level > SCHEMA_LEVEL) throw newer(meta.level);
  if (meta.level < SCHEMA_LEVEL)
    throw new ClusterError(
      `the tables are of an earlier release (level ${meta.level}): run atrium cluster init, which brings them to level ${SCHEMA_LEVEL}`,
    );
  return meta;
}

async function checkVersion(engine: Engine): Promise<void> {
  const version = await engineVersion(engine);
  if (version < ENGINE_VERSION_MIN)
    throw new ClusterError(`the engine is PostgreSQL ${version}: Atrium needs ${ENGINE_VERSION_MIN} or newer`);
}

export async function engineVersion(engine: Engine): Promise<number> {
  const [row] = await engine.run<{ version: number }>(
    "SELECT current_setting('server_version_num')::int / 10000 AS version",
  );
  return row?.version ?? 0;
}

function newer(level: number): ClusterError {
  return new ClusterError(`the tables are of a later release (level ${level}): update this program`);
}
