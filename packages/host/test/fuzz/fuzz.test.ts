/**
 * Random clients of all versions do random things to a real host: broken wires, slow readers, restarts and deaths. In the
 * end every mirror is what a newcomer of the same version is shown, and everything that was asked for has been decided once.
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

/** Worlds in which clients of every version are in the same sessions. */
const MIXED_SEEDS = Number(process.env.ATRIUM_FUZZ_MIXED_SEEDS || 2);
/** In this one an edit of a long tool input reaches clients of many versions. */
const KNOWN_MIXED_SEEDS: readonly number[] = [119];
const MIXED_OPERATIONS = Number(process.env.ATRIUM_FUZZ_MIXED_OPERATIONS || 200);

const first = Random.seedFromEnvironment();
const isOne = process.env.ATRIUM_SEED && !process.env.ATRIUM_FUZZ_SEEDS;
const seedsFrom = (count: number) =>
  isOne ? [first] : Array.from({ length: count }, (_, index) => (first + index) >>> 0);

/** Does so many things in a world, and lets it come to its end. */
async function live(world: FuzzWorld, operations: number): Promise<void> {
  for (let operation = 0; operation < operations && world.violations.length === 0; operation++) await world.step();
  await world.end();
}

describe('a host among random clients', () => {
  it.each([...KNOWN_SEEDS, ...seedsFrom(SEEDS)])(
    '[REL-011] [REL-012] [REL-016] [REL-018] [REL-020] [REL-041] [REL-068] converges, loses nothing, doubles nothing (seed %d)',
    { timeout: 30_000 },
    async (seed) => {
      const world = await FuzzWorld.begin(new Random(seed));
      await live(world, OPERATIONS);
      expect(world.violations, `ATRIUM_SEED=${seed} repeats this`).toEqual([]);
      expect(world.probes).toBeGreaterThan(0);
    },
  );

  it.each([...KNOWN_MIXED_SEEDS, ...seedsFrom(MIXED_SEEDS)])(
    '[UP-240] [UP-241] [UP-206] [UP-217] [UP-170] [UP-182] [UP-183] [UP-251] [UP-252] [REL-011] [REL-020] clients of every version and spelling share sessions: each mirror is what a newcomer of its version sees, numbers only rise, and each hears its own names (seed %d)',
    { timeout: 60_000 },
    async (seed) => {
      const world = await FuzzWorld.begin(new Random(seed), { isMixed: true });
      await live(world, MIXED_OPERATIONS);
      expect(world.violations, `ATRIUM_SEED=${seed} repeats this`).toEqual([]);
      expect(world.probes).toBeGreaterThan(0);
    },
  );
});
