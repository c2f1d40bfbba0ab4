/**
 * `npm run prove`: the runs that take too long for `npm test`, which has a short form of each. To be run whenever the log,
 * the writer, the wire or a dialect changes.
 */
import { spawn } from 'node:child_process';
import { parseArgs } from 'node:util';
import { proveByMutation } from './mutation.mjs';
import { bold, dim, duration, green, Problem, ROOT, red, runMain, tool } from './process.mjs';
import { checkNode, ensureBuilt, ensureInstalled } from './setup.mjs';

const HELP = `Usage: npm run prove [-- <names...>] [-- --seed <number>] [-- --seconds <number>]

  crash      kills a host 1,000 times at random points and at each of its first 30 commits, a log 300 times,
             and a host with schedules right before and after each of 9 commits (17 min)
  damage     damages the database 1,000 times in random ways (3 min)
  soak       lets 10,000 clients come and go, and a terminal write 100 MB (1 min)
  fuzz       has random clients do 300 things in each of 2,000 random worlds, and clients of every version together
             10,000 things (12 min)
  races      exchanges folders for links under 500 requests of each kind, and has people and the agent write the same files
             in 50 random orders (3 min)
  cluster    kills, drains and pauses three hosts on one PostgreSQL and restarts it, under six clients of different versions
             that move between them, and under agents that run on all of them, for 5 minutes or as many seconds as
             --seconds says; pauses a writer 100 times, has it declared dead and wakes it; cuts commits off and crashes the engine under them (6 min)
  mutation   changes the code in small ways and expects a test to fail (see below)

Without names: the first six. The minutes were measured on two cores that had other work as well.
A failure prints how to repeat it: npm run prove -- <name> --seed <number>.

  npm run prove -- mutation --sample 40 --seed 1                   40 changes per area, drawn by the seed (about 25 min)
  npm run prove -- mutation --sample 40 --seed 1 --area wire       one area: security, channels, wire, log, sessions,
                                                                   tool-calls or resources (2 to 6 min; the first
                                                                   time longer, to see which test reaches what)
  npm run prove -- mutation packages/host/src/server/access.ts     all changes of one file, or of several
  npm run prove -- mutation <file> --tests security                the same, but only with tests in such a path (seconds)
  npm run prove -- mutation                                        all changes of all areas (hours)

It prints each change and the test that noticed it, and fails when tests notice fewer than 90 % of an area. A survivor
that is fine is listed with its reason in test/mutation/survivors.json and then counts as noticed. Left out are changes
that the compiler refuses, log lines, and the words of errors (not their codes); it prints how many.`;

/**
 * @typedef {{ files: readonly string[], env: Readonly<Record<string, string>> }} LongRun
 * @typedef {{ name: string, ok: boolean, ms: number, note: string }} Row
 */

const HOST_TESTS = 'packages/host/test';

/** @type {Readonly<Record<string, LongRun>>} */
const LONG_RUNS = {
  crash: {
    files: [
      `${HOST_TESTS}/crash/crash.test.ts`,
      `${HOST_TESTS}/log/kill.test.ts`,
      `${HOST_TESTS}/automations/kill.test.ts`,
    ],
    env: { ATRIUM_CRASH_KILLS: '1000', ATRIUM_CRASH_COMMITS: 'all', ATRIUM_LOG_FOLDERS: '50' },
  },
  damage: { files: [`${HOST_TESTS}/log/damage.test.ts`], env: { ATRIUM_DAMAGES: '1000' } },
  soak: {
    files: [`${HOST_TESTS}/soak/soak.test.ts`, `${HOST_TESTS}/terminals/soak.test.ts`],
    env: { ATRIUM_SOAK_CROWDS: '50', ATRIUM_SOAK_MB: '100' },
  },
  fuzz: {
    files: [`${HOST_TESTS}/fuzz/fuzz.test.ts`],
    env: {
      ATRIUM_FUZZ_SEEDS: '2000',
      ATRIUM_FUZZ_OPERATIONS: '300',
      ATRIUM_FUZZ_MIXED_SEEDS: '25',
      ATRIUM_FUZZ_MIXED_OPERATIONS: '400',
    },
  },
  races: {
    files: [`${HOST_TESTS}/resources/races.test.ts`, `${HOST_TESTS}/changesets/interleaved.test.ts`],
    env: { ATRIUM_RACE_ROUNDS: '500', ATRIUM_INTERLEAVED_ROUNDS: '50' },
  },
  cluster: {
    files: [
      'packages/cli/test/cluster-run.test.ts',
      `${HOST_TESTS}/cluster/log.test.ts`,
      `${HOST_TESTS}/cluster/shared-log.test.ts`,
      `${HOST_TESTS}/cluster/engine-crash.test.ts`,
    ],
    env: { ATRIUM_CLUSTER_SECONDS: '300' },
  },
};

async function main() {
  const { values, positionals } = parseArgs({
    options: {
      help: { type: 'boolean', short: 'h' },
      seed: { type: 'string' },
      seconds: { type: 'string' },
      sample: { type: 'string' },
      area: { type: 'string' },
      tests: { type: 'string', multiple: true },
    },
    allowPositionals: true,
  });
  if (values.help) return console.log(HELP);
  const isMutation = positionals[0] === 'mutation';
  const names = positionals.length > 0 ? positionals : Object.keys(LONG_RUNS);
  const unknown = isMutation ? undefined : names.find((name) => !(name in LONG_RUNS));
  if (unknown !== undefined)
    throw new Problem(`there is no run "${unknown}"; there are ${[...Object.keys(LONG_RUNS), 'mutation'].join(', ')}`);
  const seed = numberFrom(values.seed, 'seed') ?? Math.floor(Math.random() * 2 ** 32);
  checkNode();
  await ensureInstalled();
  await ensureBuilt();
  if (isMutation) {
    const sample = numberFrom(values.sample, 'sample');
    return proveByMutation({ files: positionals.slice(1), area: values.area, seed, sample, tests: values.tests ?? [] });
  }
  const rows = [];
  const seconds = numberFrom(values.seconds, 'seconds');
  for (const name of names) rows.push(await prove(name, seed, seconds));
  report(rows);
}

/** @param {string | undefined} text @param {string} option @returns {number | undefined} */
function numberFrom(text, option) {
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  throw new Problem(`--${option}: "${text}" is not a whole number`);
}

/** @param {string} name @param {number} seed @param {number | undefined} seconds @returns {Promise<Row>} */
async function prove(name, seed, seconds) {
  const { files, env: usual } = /** @type {LongRun} */ (LONG_RUNS[name]);
  const isTimed = 'ATRIUM_CLUSTER_SECONDS' in usual && seconds !== undefined;
  const env = isTimed ? { ...usual, ATRIUM_CLUSTER_SECONDS: String(seconds) } : usual;
  console.log(
    `\n${bold(name)} ${dim(
      Object.entries(env)
        .map(([key, value]) => `${key}=${value}`)
        .join(' '),
    )}`,
  );
  const started = performance.now();
  const code = await vitest(files, { ...env, ATRIUM_SEED: String(seed) });
  const note = code === 0 ? `seed ${seed}` : `repeat: npm run prove -- ${name} --seed ${seed}`;
  return { name, ok: code === 0, ms: performance.now() - started, note };
}

/** @param {readonly string[]} files @param {Readonly<Record<string, string>>} env @returns {Promise<number>} */
function vitest(files, env) {
  const args = [tool('vitest'), 'run', '--silent=false', '--testTimeout=3600000', ...files];
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: ROOT, env: { ...process.env, ...env }, stdio: 'inherit' });
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 1));
  });
}

/** @param {readonly Row[]} rows */
function report(rows) {
  console.log(`\n${bold('Summary')}`);
  for (const { name, ok, ms, note } of rows)
    console.log(`  ${name.padEnd(8)}  ${ok ? green('proved') : red('FAILED')}  ${duration(ms).padStart(9)}  ${note}`);
  process.exitCode = rows.every(({ ok }) => ok) ? 0 : 1;
}

await runMain(main, { hasHelp: true });
