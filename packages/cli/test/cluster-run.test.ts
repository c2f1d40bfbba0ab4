/**
 * The promise of a cluster, put to the test: three hosts in processes of their own on a real PostgreSQL, and six clients of
 * different protocol versions that move between them, while hosts are killed, drained and paused and the engine is restarted.
 *
 * This is the short form; `npm run prove -- cluster` goes on for minutes, also with pauses and restarts of the engine.
 * `ATRIUM_SEED=…` repeats the choices (though not the timing) of a run.
 */
import { expect, it } from 'vitest';
import { startPostgres } from '../../../scripts/postgres.mjs';
import { Random } from '../../host/test/support/fuzz-random.js';
import { describeCluster } from './support/cluster.js';
import { type ClusterFigures, ClusterRun, HARMS, type Harm } from './support/cluster-run.js';

const SECONDS = Number(process.env.ATRIUM_CLUSTER_SECONDS || 0);
const SEED = Random.seedFromEnvironment();
const HARMS_PER_EPISODE = 6;
/** What fits into a test: a pause takes longer than the lease, and an engine of its own takes seconds to make. */
const SHORT: readonly Harm[] = ['kill active', 'kill stand-by'];

async function short(): Promise<void> {
  const figures = await new ClusterRun(new Random(SEED)).run(SHORT);
  console.info(`cluster: seed ${SEED}: ${JSON.stringify(figures)}`);
  expect(figures.harms).toBe(SHORT.length);
  expect(figures.accepted).toBeGreaterThan(0);
  expect(figures.returns).toBeGreaterThan(6);
  expect(figures.comparisons).toBeGreaterThan(12);
  expect(figures.noted).toBeGreaterThan(0);
  expect(figures.places).toBeGreaterThan(1);
}

/** One cluster after the other, until the time is over. */
async function long(): Promise<void> {
  const engine = await startPostgres({ isSafe: true });
  const random = new Random(SEED);
  const all: ClusterFigures[] = [];
  try {
    for (const end = performance.now() + SECONDS * 1_000; performance.now() < end; ) {
      const harms = Array.from({ length: HARMS_PER_EPISODE }, () => random.pick(HARMS) ?? 'kill active');
      const figures = await new ClusterRun(random.fork(), engine).run(harms);
      all.push(figures);
      console.info(`cluster: episode ${all.length}: ${harms.join(', ')}: ${JSON.stringify(figures)}`);
    }
  } finally {
    await engine.stop();
  }
  const names = Object.keys(all[0] ?? {}) as (keyof ClusterFigures)[];
  const sums = names.map((name) => [name, all.reduce((sum, figures) => sum + figures[name], 0)] as const);
  console.info(`cluster: seed ${SEED}: ${JSON.stringify(Object.fromEntries(sums))}`);
  expect(Object.fromEntries(sums).interrupted, 'turns that were cut off').toBeGreaterThan(0);
  expect(Object.fromEntries(sums).noted, 'turns of programs').toBeGreaterThan(0);
}

describeCluster(`three hosts that are killed, paused and drained under six clients (seed ${SEED})`, () => {
  it(
    '[CLU-003] [CLU-005] [CLU-037] [CLU-046] [CLU-047] lose nothing, double nothing, and show one order, wherever clients come back',
    {
      timeout: 600_000 + SECONDS * 2_000,
    },
    () => (SECONDS > 0 ? long() : short()),
  );
});
