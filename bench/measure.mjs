/**
 * How benchmarks measure. A figure is a ratio of two costs, and a cost is CPU time of one process (user and system), so
 * that a busy machine adds little to it. Every variant runs in a process of its own; they take turns slice by slice, in
 * an order that is reversed every round; each round gives one ratio, and the figure is their median with its spread.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism, loadavg } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { headComment, isHelpAsked } from '../scripts/process.mjs';
import { figure, rounded, table } from './figures.mjs';

export { figure, rounded, skipped } from './figures.mjs';

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
/** Fewer rounds say little about the spread. */
const ROUNDS = 7;
/** Out of time, a benchmark has measured everything at least so often. */
const ROUNDS_MIN = 3;

const { values: given } = parseArgs({
  strict: false,
  options: {
    json: { type: 'boolean' },
    /** The root folder of another build of Atrium, which every variant of this one is then paired with. */
    against: { type: 'string' },
    rounds: { type: 'string' },
    /** When these are over, no further round begins. */
    seconds: { type: 'string' },
    /** The smallest run that touches everything: to see that a benchmark works, not what it says. */
    tiny: { type: 'boolean' },
    variant: { type: 'string' },
  },
});

if (isHelpAsked()) {
  console.log(`${headComment()}

Options:
  --json              the figures as JSON
  --against <folder>  another build of Atrium, to compare with
  --rounds <n>        how often everything is measured (${ROUNDS})
  --seconds <n>       no further round begins after these
  --tiny              the smallest run that touches everything`);
  process.exit(0);
}

/** Processes that a benchmark starts are tiny, too. */
if (given.tiny) process.env.ATRIUM_BENCH_TINY = '1';
const isTiny = process.env.ATRIUM_BENCH_TINY === '1';
export const rounds = isTiny ? 1 : Number(given.rounds ?? ROUNDS);
let endsAt = performance.now() + 1_000 * Number(given.seconds ?? Number.POSITIVE_INFINITY);
/** The other build, if there is one. */
const against = given.against === undefined ? undefined : path.resolve(given.against);
/** The build that this process measures. */
const build = process.env.ATRIUM_BENCH_BUILD ?? ROOT;

/**
 * The numbers of the rounds, from `-warmups` on; those below zero do not count. Ends early when the time of the benchmark is over, of
 * which a group takes no more than its share.
 */
export function* roundsInTime({ warmups = 0, least = ROUNDS_MIN, share = 1 } = {}) {
  const until = performance.now() + share * (endsAt - performance.now());
  for (let round = -warmups; round < rounds; round++) {
    if (round >= least && performance.now() > until) return;
    yield round;
  }
}

/** A benchmark that would take very long by itself ends after so many seconds, unless `--seconds` says otherwise. */
export function usualSeconds(seconds) {
  if (given.seconds === undefined) endsAt = performance.now() + 1_000 * seconds;
}

/** Whether the time of the benchmark is over. */
export function isOutOfTime() {
  return performance.now() > endsAt;
}

/** A size of a benchmark; a tiny run takes the second. */
export function size(usual, tiny) {
  return isTiny ? tiny : usual;
}

/** The path of a file of the build under test, below `packages`. */
export function built(file, from = build) {
  return path.join(from, 'packages', file);
}

/** A module of the build under test: benchmarks import nothing of Atrium otherwise, so that `--against` reaches all of it. */
export function load(file) {
  return import(pathToFileURL(built(file)).href);
}

export function loadHost() {
  return load('host/dist/index.js');
}

/**
 * Measures groups of variants, one group after the other. A variant is a function that prepares, in a process of its own,
 * and returns `slice`, which works and says how many operations that were, and `close`. `slice` may say more:
 * `{ operations, cpu, ...others }`, where `cpu` (microseconds) stands for that of the process if something else was
 * measured. Variants under `atrium` also run on the other build of `--against`. Returns, for each group, the samples of
 * each variant, one per round.
 *
 * A file that calls this runs once more for each variant, up to here.
 */
export async function paired(url, groups) {
  if (given.variant !== undefined) return serve(variantOf(groups, given.variant));
  const samples = {};
  const wanted = Object.entries(groups);
  for (const [index, [group, options]] of wanted.entries()) {
    const share = 1 / (wanted.length - index);
    samples[group] = await measureGroup(url, group, { ...options, share });
  }
  return samples;
}

function variantOf(groups, id) {
  const [group, name] = id.split('/');
  return groups[group].atrium[name] ?? groups[group].limits[name];
}

async function measureGroup(url, group, { atrium, limits = {}, warmups = isTiny ? 0 : 1, share }) {
  const begin = (name, root) => start(url, `${group}/${name}`, root);
  const variants = [
    ...Object.keys({ ...atrium, ...limits }).map((name) => ({ name, child: begin(name, ROOT) })),
    ...Object.keys(against ? atrium : {}).map((name) => ({ name: otherName(name), child: begin(name, against) })),
  ];
  const samples = Object.fromEntries(variants.map(({ name }) => [name, []]));
  for (const { child } of variants) await child.ready;
  for (const round of roundsInTime({ warmups, share })) {
    const order = round % 2 === 0 ? variants : [...variants].reverse();
    for (const { name, child } of order) {
      const sample = await child.slice();
      if (round >= 0) samples[name].push(sample);
    }
  }
  for (const { child } of variants) await child.stop();
  return samples;
}

function otherName(name) {
  return `${name} of the other build`;
}

/** The side of `paired` that asks. */
function start(url, id, root) {
  const args = [...process.argv.slice(2), '--variant', id];
  const child = fork(fileURLToPath(url), args, {
    env: { ...process.env, ATRIUM_BENCH_BUILD: root },
    stdio: ['ignore', 2, 2, 'ipc'],
  });
  const gone = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`the variant ${id} ended with ${code ?? signal}`);
  });
  gone.catch(() => {});
  const next = async () => (await Promise.race([once(child, 'message'), gone]))[0];
  const ready = next();
  ready.catch(() => {});
  return {
    ready,
    slice() {
      child.send('slice');
      return next();
    },
    async stop() {
      child.send('stop');
      await gone.catch(() => {});
    },
  };
}

/** The side of `paired` that works. Never returns. */
async function serve(prepare) {
  process.once('disconnect', () => process.exit(1));
  const { slice, close = () => {} } = await prepare();
  process.on('message', async (message) => {
    if (message === 'stop') {
      await close();
      process.exit(0);
    }
    const before = process.cpuUsage();
    const result = await slice();
    const { user, system } = process.cpuUsage(before);
    const { operations, cpu = user + system, ...others } = typeof result === 'number' ? { operations: result } : result;
    process.send({ cost: cpu / operations, ...others });
  });
  process.send('ready');
  return new Promise(() => {});
}

/**
 * One figure of a pair: `of` over `to`, round by round, of the sample's `cost` or another `member`; `isInverse` turns it
 * round. With `--against`, also what the other build has, and this build over the other one.
 */
export function ratio(samples, { of, to, member = 'cost', isInverse = false, ...rest }) {
  const divide = (a, b) => samples[a].map((sample, round) => sample[member] / samples[b][round][member]);
  const held = (a, b) => (isInverse ? divide(b, a) : divide(a, b));
  const other = otherName(of);
  const limit = samples[otherName(to)] ? otherName(to) : to;
  return figure({
    ...rest,
    samples: held(of, to),
    ...(samples[other] && { others: held(other, limit), changes: divide(of, other) }),
  });
}

/** One figure in its own unit: what `pick` says about each sample of a variant. */
export function absolute(samples, { of, pick = ({ cost }) => cost, ...rest }) {
  const others = samples[otherName(of)];
  const values = samples[of].map(pick);
  return figure({
    ...rest,
    samples: values,
    ...(others && { others: others.map(pick), changes: others.map((sample, round) => values[round] / pick(sample)) }),
  });
}

/** Prints the figures: one JSON object for programs, a table for people. */
export function report(figures) {
  const machine = { node: process.versions.node, cores: availableParallelism(), load: loadavg().map(rounded) };
  if (given.json) return console.log(JSON.stringify({ ...machine, figures }));
  console.log(table(figures));
}
