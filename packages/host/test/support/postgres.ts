/** PostgreSQL for tests: one server for the whole run, and in it a schema for whoever asks. */
import { randomBytes } from 'node:crypto';
import { describe, inject } from 'vitest';
import { findPostgres, sharedPostgres } from '../../../../scripts/postgres.mjs';
import { initCluster } from '../../src/log-postgres/administer.js';
import { Engine } from '../../src/log-postgres/engine.js';
import { type EngineUrl, engineUrl } from '../../src/log-postgres/engine-url.js';
import { ROOT_OWNER } from '../../src/log-postgres/schema.js';

const isThere = Boolean(process.env.ATRIUM_TEST_POSTGRES) || findPostgres() !== undefined;
const REASON = '(skipped: there is no PostgreSQL server: npm install, or apt install postgresql)';

/** Tests that need the engine. Without one they are skipped, and fail where `CI` is set. */
export function describeWithEngine(title: string, tests: () => void): void {
  if (isThere || process.env.CI) describe(title, tests);
  else describe.skip(`${title} ${REASON}`, tests);
}

/** The address of a fresh cluster, as people write it. */
export async function freshClusterUrl(): Promise<string> {
  const server = new URL(await sharedPostgres(inject('engineFolder')));
  server.searchParams.set('schema', `t${randomBytes(8).toString('hex')}`);
  return server.href;
}

/** A cluster with its tables. */
export async function freshCluster(): Promise<EngineUrl> {
  const url = engineUrl(await freshClusterUrl());
  await onEngine(url, (engine) => initCluster(engine));
  return url;
}

export async function onEngine<T>(url: EngineUrl, work: (engine: Engine) => Promise<T>): Promise<T> {
  const engine = new Engine(url, 'test');
  try {
    return await work(engine);
  } finally {
    await engine.close();
  }
}

/** Joins as a host and becomes the active one, whoever was that before. */
export async function takeOver(url: EngineUrl, host = 'a'): Promise<{ host: string; term: number }> {
  return onEngine(url, async (engine) => {
    const [joined] = await engine.run<{ term: number }>("SELECT join_cluster($1, NULL, 'test', 1) AS term", [host]);
    const term = joined?.term ?? 0;
    await engine.run('UPDATE hosts SET alive = false WHERE id IN (SELECT host FROM owners WHERE channel = $1)', [
      ROOT_OWNER,
    ]);
    await engine.run('DELETE FROM owners');
    await engine.run('UPDATE hosts SET alive = true WHERE id = $1', [host]);
    await engine.run('SELECT claim($1, $2)', [host, term]);
    return { host, term };
  });
}
