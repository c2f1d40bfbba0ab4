/**
 * The promise, put to the test: what anyone has seen is never lost, and nothing is ever doubled. A real host in a process
 * of its own, on a real folder, is killed with SIGKILL while two clients work with it over WebSockets.
 *
 * `ATRIUM_CRASH_KILLS=1000` kills longer, `ATRIUM_SEED=…` repeats the choices (though not the timing) of a run.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleHost, crashFolder, type HostProgram } from '../support/crash-child.js';
import type { CrashPoint } from '../support/crash-log.js';
import { crashAt } from '../support/crash-point.js';
import { CrashRun } from '../support/crash-run.js';
import { Random } from '../support/fuzz-random.js';

const KILLS = Number(process.env.ATRIUM_CRASH_KILLS || 100);
const SEED = Random.seedFromEnvironment();
const TIMEOUT_MS = 60_000 + KILLS * 3_000;

let program: HostProgram;

beforeAll(async () => {
  program = await bundleHost();
}, 60_000);

afterAll(() => program?.remove());

describe(`a host that is killed ${KILLS} times at random points (seed ${SEED})`, () => {
  it('[REL-012] [REL-031] [REL-034] [REL-062] loses nothing that was seen, doubles nothing, and leaves nothing running', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const { dataDir, remove } = crashFolder();
    try {
      const figures = await new CrashRun(program, dataDir, SEED).run(KILLS);
      console.info(`crash: seed ${SEED}: ${JSON.stringify(figures)}`);
      expect(figures.kills).toBe(KILLS);
      expect(figures.interrupted, 'turns that a kill cut off').toBeGreaterThan(KILLS / 10);
      expect(figures.interruptedCalls, 'calls that a kill interrupted').toBeGreaterThanOrEqual(Math.floor(KILLS / 50));
      expect(figures.comparisons).toBeGreaterThan(KILLS);
    } finally {
      remove();
    }
  });
});

describe('a host that dies at one commit', () => {
  const COMMITS = 30;
  const AT_A_TIME = 2;

  it.each(['before', 'after'] as const)(
    '[REL-031] [REL-034] right %s it is stored goes on as if nothing had happened, whichever of the first 30 it is',
    { timeout: 400_000 },
    async (when) => {
      const points = Array.from({ length: COMMITS }, (_, index): CrashPoint => ({ when, commit: index + 1 }));
      const wrong: string[] = [];
      let deaths = 0;
      const work = async () => {
        for (let point = points.shift(); point; point = points.shift()) {
          const { hasDied, violations } = await crashAt(program, point);
          if (hasDied) deaths += 1;
          wrong.push(...violations.map((violation) => `${when} commit ${point?.commit}: ${violation}`));
        }
      };
      await Promise.all(Array.from({ length: AT_A_TIME }, work));
      expect(wrong).toEqual([]);
      expect(deaths).toBe(COMMITS);
    },
  );
});
