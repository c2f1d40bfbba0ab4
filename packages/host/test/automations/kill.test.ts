/** Schedules under `kill -9`, also of runs that wait for others: no time runs twice, and none is lost without a word. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { AutomationRunState } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { programFile } from '../../../../test/support/programs.js';
import { RUN_HISTORY_LIMIT } from '../../src/automations/limits.js';
import { nextAfter } from '../../src/automations/schedule.js';
import { openSqliteLog } from '../../src/log-sqlite/sqlite-log.js';
import { AUTOMATION, AUTOMATIONS_CHANNEL, AutomationFixture, scheduled } from '../support/automation-fixture.js';
import { FakeClock } from '../support/fake-clock.js';
import { FastClock } from '../support/fast-clock.js';
import { Random } from '../support/fuzz-random.js';
import { dataFolder } from '../support/log-folders.js';

const BOTH = [AUTOMATION, 'ahp-automation:/second'];
const EVERY_FIVE_MINUTES = scheduled('*/5 * * * *');
/** A commit of its start, of the look at missed times, of a run, its session, its turn, or of what comes next. */
const COMMITS = 9;
const SEED = Random.seedFromEnvironment();
const DOOMED_MAX_MS = 2_500;

interface World {
  readonly folder: string;
  readonly ledger: string;
  readonly begin: number;
  readonly realBegin: number;
}

/** A host that lives until it dies at a commit, or is killed: after a while, or when this is over. */
async function live(world: World, crashAt: string, isOver: () => Promise<unknown> = () => delay(DOOMED_MAX_MS)) {
  const { folder, ledger, begin, realBegin } = world;
  const args = [programFile('automation-host'), folder, ledger, String(begin), String(realBegin)];
  const env = { ...process.env, ATRIUM_CRASH_AT: crashAt };
  const child = spawn(process.execPath, args, { env, stdio: ['pipe', 'ignore', 'inherit'] });
  const ended = once(child, 'close');
  await Promise.race([ended, isOver()]);
  child.kill('SIGKILL');
  await ended;
}

/** The sessions in which the agent was given a turn, by its own notes. */
function turnsIn(ledger: string): string[] {
  return existsSync(ledger) ? readFileSync(ledger, 'utf8').trimEnd().split('\n') : [];
}

async function opened(folder: string, now: number): Promise<AutomationFixture> {
  return AutomationFixture.open({ log: await openSqliteLog({ dataDir: folder }), clock: new FakeClock(now) });
}

async function allRuns(fixture: AutomationFixture, automation: string): Promise<AutomationRunState[]> {
  const params = { channel: AUTOMATIONS_CHANNEL, automation };
  while ((await fixture.entry(automation)).runsNextCursor !== undefined)
    await fixture.client.request('fetchAutomationRuns', params);
  return fixture.runs(automation);
}

const isSkip = ({ lifecycle }: AutomationRunState) => lifecycle.error?.errorType.startsWith('skipped-') ?? false;

function skippedTimes(runs: readonly AutomationRunState[]): number {
  const counts = runs.filter(isSkip).map(({ lifecycle }) => lifecycle.error?._meta?.skipped as { count: number });
  return counts.reduce((sum, { count }) => sum + count, 0);
}

function timesBetween(from: number, to: number): number {
  let count = 0;
  for (let at = nextAfter(EVERY_FIVE_MINUTES.schedule, from); at !== undefined && at <= to; count += 1)
    at = nextAfter(EVERY_FIVE_MINUTES.schedule, at);
  return count;
}

/** At each commit; whether right before or right after it is left to the seed. `npm run prove -- crash` takes both. */
function chosenCrashes(): readonly string[] {
  const random = new Random(SEED);
  return Array.from({ length: COMMITS }, (_, index) => index + 1).flatMap((commit) => {
    const both = [`before:${commit}`, `after:${commit}`];
    return process.env.ATRIUM_CRASH_COMMITS === 'all' ? both : both.slice(random.below(2)).slice(0, 1);
  });
}

describe(`a schedule (seed ${SEED})`, () => {
  it('[AUT-022] [AUT-018] [AUT-044] starts each of its times once at most and accounts for all of them, however its host dies', {
    timeout: 180_000,
  }, async () => {
    const folder = dataFolder();
    const begin = Date.UTC(2026, 0, 1, 0, 1);
    const first = await opened(folder, begin);
    for (const automation of BOTH) await first.create({ triggers: [EVERY_FIVE_MINUTES] }, automation);
    await first.host.stop();
    const realBegin = Date.now();
    const world: World = { folder, ledger: path.join(folder, 'ledger.txt'), begin, realBegin };
    for (const crash of chosenCrashes()) await live(world, crash);
    const before = turnsIn(world.ledger).length;
    // One run at a time: when the second begins, the first is over.
    await live(world, '', () => expect.poll(() => turnsIn(world.ledger).length).toBeGreaterThan(before + 1));
    const end = new FastClock(begin, realBegin).now();
    const last = await opened(folder, end);
    const runsOf = await Promise.all(BOTH.map((automation) => allRuns(last, automation)));
    for (const runs of runsOf) expect(runs.length).toBeLessThan(RUN_HISTORY_LIMIT);
    const realOf = runsOf.map((runs) => runs.filter((run) => !isSkip(run)));
    const real = realOf.flat();
    const started = turnsIn(world.ledger);
    const sessionOf = ({ resource }: AutomationRunState) => `ahp-session:/${resource.split('/')[1]}`;
    const byStatus = (status: string) => real.filter(({ lifecycle }) => lifecycle.status === status);

    // Nothing ran twice.
    expect(new Set(started).size).toBe(started.length);
    for (const runs of realOf) {
      const scheduledFor = runs.map(({ origin }) => (origin.kind === 'trigger' ? origin.scheduledFor : undefined));
      expect(new Set(scheduledFor).size).toBe(runs.length);
    }
    // What ran is known, and what is said of it is true.
    expect(started.filter((session) => !real.some((run) => sessionOf(run) === session))).toEqual([]);
    for (const run of byStatus('completed')) expect(started).toContain(sessionOf(run));
    for (const run of byStatus('failed')) {
      expect(run.lifecycle.error?.errorType).toBe('host-restarted');
      if (run.lifecycle.error?.message.includes('not sent')) expect(started).not.toContain(sessionOf(run));
    }
    // No time is missing: it ran, or it is told that it did not.
    for (const [index, runs] of runsOf.entries())
      expect((realOf[index]?.length ?? 0) + skippedTimes(runs)).toBe(timesBetween(begin, end));
    // The hosts died in the middle of runs, and not only between them.
    expect(byStatus('failed').length).toBeGreaterThan(2);
    expect(byStatus('completed').length).toBeGreaterThan(0);
    await last.host.stop();
  });
});
