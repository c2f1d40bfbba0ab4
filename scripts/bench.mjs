/**
 * `npm run bench -- <name> [--json]` runs bench/<name>.bench.mjs on a fresh build; `all` runs every one, and prints one
 * table.
 */
import { existsSync, readdirSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import path from 'node:path';
import { summary, table } from '../bench/figures.mjs';
import { dim, duration, Problem, ROOT, red, runMain, runNode, say } from './process.mjs';
import { checkNode, ensureBuilt, ensureInstalled } from './setup.mjs';

const FOLDER = path.join(ROOT, 'bench');
const SUFFIX = '.bench.mjs';
/** For all of them together. Each takes what is left, divided by those that are left. */
const MINUTES = 14;
/** One that does not end by itself is ended when it has taken so many times its share, so that the others get theirs. */
const SHARES_MAX = 5;

async function main() {
  const [name, ...rest] = process.argv.slice(2);
  if (name === undefined || name === '--help' || name === '-h') return console.log(help());
  if (name !== 'all' && !benches().includes(name)) {
    say(`${red('error:')} there is no benchmark named "${name}".\n\n${help()}`);
    process.exitCode = 2;
    return;
  }
  checkOtherBuild(rest);
  checkNode();
  await ensureInstalled();
  await ensureBuilt();
  if (name === 'all') return runAll(rest);
  const { code } = await runNode([fileOf(name), ...rest], { live: true });
  process.exitCode = code;
}

/** @param {string} name */
function fileOf(name) {
  return path.join(FOLDER, `${name}${SUFFIX}`);
}

/** @param {string[]} args */
function checkOtherBuild(args) {
  if (!args.includes('--against')) return;
  const folder = args[args.indexOf('--against') + 1];
  if (folder !== undefined && existsSync(path.join(folder, 'packages', 'host', 'dist', 'index.js'))) return;
  throw new Problem(
    `--against needs the root folder of another clone of Atrium that has been built; ${folder ?? 'nothing'} is none.\n` +
      'Clone it, check out the commit to compare with, and run `npm ci` there.',
  );
}

/**
 * One after the other, so that they do not disturb each other. One that fails is reported at the end, and the others run.
 * @param {string[]} args
 */
async function runAll(args) {
  const { minutes, rest } = timeOf(args);
  const started = performance.now();
  const loadBefore = loadavg();
  /** @type {(import('../bench/figures.mjs').Figure | import('../bench/figures.mjs').Skipped)[]} */
  const figures = [];
  const failures = [];
  for (const [index, name] of benches().entries()) {
    const began = performance.now();
    const left = 60 * minutes - (began - started) / 1_000;
    const share = Math.max(0, left / (benches().length - index));
    const endAfterMs = 1_000 * Math.max(0, Math.min(left, SHARES_MAX * share));
    const { code, output, isEnded } = await runNode([fileOf(name), ...rest, '--seconds', String(share), '--json'], {
      endAfterMs,
    });
    const result = code === 0 ? lastJson(output) : undefined;
    const why = `no time: ${duration(endAfterMs)} were not enough; give --minutes more, or run it alone`;
    if (result) figures.push(...result.figures);
    else if (isEnded) figures.push({ name, skipped: why });
    else failures.push({ name, output: output.trimEnd() });
    const how = result ? 'done' : isEnded ? red('left out') : red('failed');
    say(dim(`${name}: ${how} in ${duration(performance.now() - began)}`));
  }
  const machine = { node: process.versions.node, cores: availableParallelism(), loadBefore, loadAfter: loadavg() };
  if (args.includes('--json')) console.log(JSON.stringify({ ...machine, figures, failures }, null, 2));
  else console.log(`${table(figures)}\n\n${summary(figures)}`);
  for (const { name, output } of failures) say(`\n${red('failed:')} ${name}\n${output}`);
  say(
    dim(
      `all in ${duration(performance.now() - started)}, load ${loadBefore[0]?.toFixed(1)}-${loadavg()[0]?.toFixed(1)}`,
    ),
  );
  // A missed target is no failure: how busy the machine is must not decide whether a command succeeds.
  if (failures.length > 0) process.exitCode = 1;
}

/** How long all of them may take, and the other arguments. @param {string[]} args */
function timeOf(args) {
  const at = args.indexOf('--minutes');
  const minutes = at < 0 ? MINUTES : Number(args[at + 1]);
  if (!(minutes > 0)) throw new Problem(`--minutes: "${args[at + 1] ?? ''}" is no number of minutes`);
  const rest = args.filter((arg, index) => arg !== '--json' && (at < 0 || (index !== at && index !== at + 1)));
  return { minutes, rest };
}

/** A benchmark prints one line of JSON; what its processes complain about stands beside it. @param {string} output */
function lastJson(output) {
  const line = output.split('\n').findLast((text) => text.startsWith('{"node":'));
  return line === undefined ? undefined : JSON.parse(line);
}

function benches() {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith(SUFFIX))
    .map((file) => file.slice(0, -SUFFIX.length))
    .sort();
}

function help() {
  return `Usage: npm run bench -- <name> | all [options]

Runs one benchmark of bench/ on a fresh build, or all of them. Each figure is held against a limit that is measured in
the same run; docs/performance.md says how.

  --json              the figures as JSON on stdout; add -s (\`npm run -s bench -- all --json\`) to silence npm
  --against <folder>  another build of Atrium, measured in turn with this one: before and after a change
  --rounds <n>        how often everything is measured; 7 by default, and the median counts
  --minutes <n>       how long \`all\` takes at most; ${MINUTES} by default. Where that is not enough, there are fewer rounds (at
                      least 3, for growth 1), and then fewer benchmarks: the figures say how many rounds they have, and
                      which were left out

Benchmarks:
${benches()
  .map((name) => `  ${name}`)
  .join('\n')}`;
}

await runMain(main, { hasHelp: true });
