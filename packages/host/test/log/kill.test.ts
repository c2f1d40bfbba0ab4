import { spawnSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '@atrium/core/log/log.js';
import { describe, expect, it } from 'vitest';
import { programFile } from '../../../../test/support/programs.js';
import { openSqliteLog } from '../../src/log-sqlite/sqlite-log.js';
import { Random } from '../support/fuzz-random.js';
import { Appender } from '../support/log-child.js';
import { dataFolder, openLog } from '../support/log-folders.js';
import { randomFrom } from '../support/log-random.js';
import { appendSamples, HEAD_RECORD, sampleEntries, TURNS_CHANNEL } from '../support/log-samples.js';

/** `npm run prove -- crash` kills in more folders. */
const FOLDERS = Number(process.env.ATRIUM_LOG_FOLDERS || 3);
const AT_A_TIME = 3;
/**
 * Few, because every kill compares the whole log. That holds up the kills in other folders, whose logs grow meanwhile:
 * with more the test would do nothing but compare.
 */
const KILLS_PER_FOLDER = 6;
const LONGEST_RUN_MS = 120;
/** How many of the places between journal and database a short run dies at. */
const SHORT_STEPS = 12;
const SEED = Random.seedFromEnvironment();

describe(`a log whose process dies (seed ${SEED})`, () => {
  it('[REL-031] has everything that was acknowledged before kill -9, and whole commits only', {
    timeout: 240_000 + FOLDERS * 60_000,
  }, async () => {
    const seeds = Array.from({ length: FOLDERS }, (_, index) => (SEED + index) >>> 0);
    const work = async () => {
      for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) await killOverAndOver(seed);
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, work));
  });

  it.skipIf(process.platform === 'win32')(
    '[REL-033] has nothing of a commit that could not be written to the end',
    { timeout: 60_000 },
    async () => {
      const dataDir = dataFolder();
      const appender = await Appender.startWithFileLimit(dataDir, 600);
      await appender.ended();
      expect(appender.failure).toMatch(/^(failed|disk-full)$/);
      const log = await openLog(dataDir);
      expect(log.head).toBe(appender.reported);
      await expectWhole(log, appender);
    },
  );

  it('[REL-031] has everything that was acknowledged, wherever it dies between journal and database', {
    timeout: 240_000,
  }, async () => {
    const whole = stepsOf(dataFolder(), 0);
    expect(whole).toMatchObject({ signal: null, stored: STEPS_HEAD });
    expect(whole.steps).toBeGreaterThan(50);
    for (const step of chosenSteps(whole.steps)) {
      const dataDir = dataFolder();
      const { signal, stored } = stepsOf(dataDir, step);
      expect(signal).toBe('SIGKILL');
      const log = await openSqliteLog({ dataDir });
      expect(log.head, `step ${step}`).toBeGreaterThanOrEqual(stored);
      expect(await log.read({ after: 0 }), `step ${step}`).toEqual(sampleEntries(1, log.head));
      for (const { message } of log.repairs) expect(message).toContain('never acknowledged');
      await appendSamples(log, 1);
      await log.close();
      const again = await openSqliteLog({ dataDir });
      expect([again.head, again.repairs], `step ${step}`).toEqual([log.head, []]);
      await again.close();
    }
  });
});

/** All of them in the long form; a short run takes some, which the seed chooses. */
function chosenSteps(count: number): number[] {
  const steps = Array.from({ length: count }, (_, index) => index + 1);
  if (process.env.ATRIUM_LOG_FOLDERS) return steps;
  const random = new Random(SEED);
  return Array.from({ length: SHORT_STEPS }, () => steps.splice(random.below(steps.length), 1)[0] ?? 0);
}

/** The head of what `log-steps` stores. */
const STEPS_HEAD = 11;

function stepsOf(dataDir: string, fatal: number) {
  const { signal, stdout } = spawnSync(process.execPath, [programFile('log-steps'), dataDir, String(fatal)]);
  const last = (word: string) => Number(stdout.toString().split(`${word} `).at(-1)?.split('\n')[0] ?? 0);
  return { signal, stored: stdout.includes('stored ') ? last('stored') : 0, steps: last('steps') };
}

async function killOverAndOver(seed: number): Promise<void> {
  const dataDir = dataFolder();
  const random = randomFrom(seed);
  for (let kill = 0; kill < KILLS_PER_FOLDER; kill++) {
    const appender = await Appender.start(dataDir, seed + kill * 1_000);
    await delay(random(LONGEST_RUN_MS));
    await appender.kill();
    const log = await openSqliteLog({ dataDir });
    expect(log.head, `kill ${kill} of seed ${seed}`).toBeGreaterThanOrEqual(appender.reported);
    await expectWhole(log, appender);
    await log.close();
  }
}

/** No gap, no double, contents right; and what was stored with an entry is there with it. */
async function expectWhole(log: Log, { recorded }: Appender): Promise<void> {
  expect(await log.read({ after: 0 })).toEqual(sampleEntries(1, log.head));
  const head = await log.record(HEAD_RECORD);
  expect(Number(head ?? 0)).toBeGreaterThanOrEqual(recorded);
  expect(Number(head ?? 0)).toBeLessThanOrEqual(log.head);
  if (head === undefined) return;
  const archive = await log.archiveHead(TURNS_CHANNEL);
  expect(archive).toMatchObject({ seq: Number(head), head });
  const turns = await log.archivedTurns(TURNS_CHANNEL, { start: 0, end: Number.MAX_SAFE_INTEGER });
  expect(turns.map(({ id }) => id)).toEqual(turns.map((_, index) => `t${index}`));
  expect(turns.length).toBe(archive?.turnCount);
  expect(turns.at(-1)?.json).toBe(head);
}
