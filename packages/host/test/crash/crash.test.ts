/**
 * The promise, put to the test: what anyone has seen is never lost, and nothing is ever doubled. A real host in a process
 * of its own, on a real folder, is killed with SIGKILL while three clients work with it over WebSockets, one of them in several chats at once.
 *
 * This is the short form; `npm run prove -- crash` kills a thousand times and at every one of the first thirty commits.
 * `ATRIUM_SEED=…` repeats the choices (though not the timing) of a run.
 */
import { describe, expect, it } from 'vitest';
import { crashFolder } from '../support/crash-child.js';
import type { CrashPoint } from '../support/crash-log.js';
import { crashAt } from '../support/crash-point.js';
import { CrashRun } from '../support/crash-run.js';
import { Random } from '../support/fuzz-random.js';

const KILLS = Number(process.env.ATRIUM_CRASH_KILLS || 8);
const SEED = Random.seedFromEnvironment();
/** A limit for what hangs: beside other work a kill may take several seconds. */
const TIMEOUT_MS = 60_000 + KILLS * 10_000;
const FIRST_COMMITS = 30;
const SHORT_COMMITS = 4;
const AT_A_TIME = 2;

describe(`a host that is killed ${KILLS} times at random points (seed ${SEED})`, () => {
  it('[REL-012] [REL-031] [REL-034] [REL-062] loses nothing that was seen, doubles nothing, and leaves nothing running', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const { dataDir, remove } = crashFolder();
    try {
      const figures = await new CrashRun(dataDir, SEED).run(KILLS);
      console.info(`crash: seed ${SEED}: ${JSON.stringify(figures)}`);
      expect(figures.kills).toBe(KILLS);
      // Whether a few kills meet a worker is chance; many that meet none would prove nothing about workers.
      const seldom = Math.floor(KILLS / 50);
      expect(figures.interrupted, 'turns that a kill cut off').toBeGreaterThan(KILLS / 10);
      expect(figures.interruptedCalls, 'calls that a kill interrupted').toBeGreaterThanOrEqual(seldom);
      expect(figures.chats, 'chats that were opened').toBeGreaterThanOrEqual(Math.floor(KILLS / 4));
      expect(figures.workers, 'workers').toBeGreaterThanOrEqual(seldom);
      expect(figures.interruptedInChats, 'turns of further chats that a kill cut off').toBeGreaterThanOrEqual(seldom);
      expect(figures.comparisons).toBeGreaterThan(KILLS);
    } finally {
      remove();
    }
  });
});

/** The first two make the session; which of the others a short run takes is left to the seed. */
function chosenCommits(): readonly number[] {
  const others = Array.from({ length: FIRST_COMMITS - 2 }, (_, index) => index + 3);
  if (process.env.ATRIUM_CRASH_COMMITS === 'all') return [1, 2, ...others];
  const random = new Random(SEED);
  const chosen = Array.from({ length: SHORT_COMMITS - 2 }, () => others.splice(random.below(others.length), 1)[0] ?? 0);
  return [1, 2, ...chosen.sort((a, b) => a - b)];
}

describe(`a host that dies at one commit (seed ${SEED})`, () => {
  const commits = chosenCommits();

  it.each(['before', 'after'] as const)(
    `[REL-031] [REL-034] right %s it is stored goes on as if nothing had happened, at the commits ${commits.join(', ')}`,
    { timeout: 400_000 },
    async (when) => {
      const points = commits.map((commit): CrashPoint => ({ when, commit }));
      const wrong: string[] = [];
      let deaths = 0;
      const work = async () => {
        for (let point = points.shift(); point; point = points.shift()) {
          const { hasDied, violations } = await crashAt(point);
          if (hasDied) deaths += 1;
          wrong.push(...violations.map((violation) => `${when} commit ${point?.commit}: ${violation}`));
        }
      };
      await Promise.all(Array.from({ length: AT_A_TIME }, work));
      expect(wrong).toEqual([]);
      expect(deaths).toBe(commits.length);
    },
  );

  it('[REL-031] [REL-034] right after it is stored goes on with a message that is queued only after the crash', {
    timeout: 120_000,
  }, async () => {
    // One of these commits holds the start of the first turn: the queued message then meets a session that is idle.
    const points = [4, 5, 6].map((commit): CrashPoint => ({ when: 'after', commit }));
    const outcomes = await Promise.all(points.map((point) => crashAt(point, { isQueuedLate: true })));
    expect(outcomes).toEqual(points.map(() => ({ hasDied: true, violations: [] })));
  });

  it('[REL-031] dies at every commit that is asked for, also at one that the usual work does not reach', {
    timeout: 120_000,
  }, async () => {
    expect(await crashAt({ when: 'after', commit: 90 })).toEqual({ hasDied: true, violations: [] });
  });
});
