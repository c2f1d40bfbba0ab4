/**
 * Random clients do random things to a real host: three dialects, broken wires, slow readers, restarts and deaths. In the
 * end every mirror is what a newcomer is shown, and everything that was asked for has been decided once.
 *
 * `ATRIUM_SEED=…` runs one seed alone; `npm run prove -- fuzz` does more of it.
 */
import { describe, expect, it } from 'vitest';
import { Random } from '../support/fuzz-random.js';
import { FuzzWorld } from '../support/fuzz-world.js';

const SEEDS = Number(process.env.ATRIUM_FUZZ_SEEDS || 50);
const OPERATIONS = Number(process.env.ATRIUM_FUZZ_OPERATIONS || 100);
/** Seeds that once found something. They run always. */
const KNOWN_SEEDS: readonly number[] = [122545740, 2161323692, 3060112774];

const first = Random.seedFromEnvironment();
const isOne = process.env.ATRIUM_SEED && !process.env.ATRIUM_FUZZ_SEEDS;
const seeds = isOne ? [first] : Array.from({ length: SEEDS }, (_, index) => (first + index) >>> 0);

describe('a host among random clients', () => {
  it.each([...KNOWN_SEEDS, ...seeds])(
    '[REL-011] [REL-012] [REL-016] [REL-018] [REL-020] [REL-041] [REL-068] converges, loses nothing, doubles nothing (seed %d)',
    { timeout: 30_000 },
    async (seed) => {
      const world = await FuzzWorld.begin(new Random(seed));
      for (let operation = 0; operation < OPERATIONS && world.violations.length === 0; operation++) await world.step();
      await world.end();
      expect(world.violations, `ATRIUM_SEED=${seed} repeats this`).toEqual([]);
      expect(world.probes).toBeGreaterThan(0);
    },
  );
});
