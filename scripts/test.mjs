/**
 * `npm test`: every check of the repository, from a fresh clone. Checks that need little of the machine run beside each
 * other, the tests alone. Ends with a table and one plain line, `N passed, N failed[, N skipped][, N unsteady]`, that
 * programs can read.
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import {
  bold,
  colours,
  dim,
  duration,
  green,
  Problem,
  ROOT,
  readJson,
  red,
  runMain,
  runNode,
  tool,
  yellow,
} from './process.mjs';
import { checkNode, ensureBuilt, ensureGenerated, ensureInstalled, packageFolders, runGenerator } from './setup.mjs';
import { SKIP_NOTES_FILE } from './skip-notes.mjs';
import { countTests, readUnsteady, secondRun, skipReasons } from './test-report.mjs';

const HELP = `Usage: npm test [-- <vitest arguments>]

Installs and builds what is missing, then runs every check: generated files, build and types,
lint, import rules, packaging, the reducers with every branch covered, all other tests. The runs that take long
(a thousand kills, long fuzzing, mutations) are in "npm run prove". Test files that fail, if they are few, are run once
more by themselves, so that the end can tell a race from a plain failure. A test that passes only then counts as failed,
unless test/unsteady.json lists it (title, reason, expires); then it is named as unsteady.

No test is skipped in silence: its title says why, and the end lists the reasons.

Arguments go to vitest, without the step that measures coverage.
  npm test -- reducers        tests in files whose path contains "reducers"
  npm test -- -t "queued"     tests whose title contains "queued"`;

const CACHE = path.join(ROOT, 'node_modules', '.cache', 'atrium');
const TEST_REPORT = path.join(CACHE, 'vitest.json');
const PROTOCOL_REPORT = path.join(CACHE, 'vitest-protocol.json');
const SECOND_REPORT = path.join(CACHE, 'vitest-again.json');
const UNSTEADY_LIST = path.join(ROOT, 'test', 'unsteady.json');
const PROTOCOL_TESTS = 'packages/protocol/test';
const SKIP_NOTES = path.join(CACHE, 'skip-notes.json');
const WHOLE = [`--exclude=${PROTOCOL_TESTS}/**`, '--reporter=./scripts/skip-notes.mjs'];
const COVERAGE_REPORT = path.join(ROOT, 'coverage', 'coverage-summary.json');

/**
 * What a step comes to. `output` is shown when it failed, `note` stands in the table.
 * @typedef {{ ok: boolean, output?: string, note?: string }} Outcome
 * `after`: the steps that have to end first. `needs`: one of them that has to succeed as well.
 * @typedef {{ name: string, after?: readonly string[], needs?: string, run: () => Promise<Outcome> }} Step
 * @typedef {{ name: string, result: 'ok' | 'failed' | 'not run', ms: number, note: string }} Row
 */

/** @type {import('./test-report.mjs').Counts} */
let counts = { passed: 0, failed: 0, skipped: 0, unsteady: [], races: [] };
/** @type {import('./test-report.mjs').Skips} */
let skips = { reasons: new Map(), silent: [] };
const vitestArguments = process.argv.slice(2);

/** @type {readonly Step[]} */
const CHECKS = [
  { name: 'generated files', run: checkGenerated },
  { name: 'build and types', after: ['generated files'], run: build },
  ...(vitestArguments.length === 0 ? [{ name: 'reducers', after: ['generated files'], run: coverReducers }] : []),
  { name: 'lint', run: lint },
  { name: 'import rules', run: () => command(['scripts/layers.mjs']) },
  { name: 'rules and their tests', run: () => command(['scripts/spec.mjs']) },
  { name: 'packaging', needs: 'build and types', run: checkPackaging },
];
/** @type {readonly Step[]} */
const STEPS = [...CHECKS, { name: 'tests', after: CHECKS.map(({ name }) => name), run: runTests }];
/** A build keeps one core busy, and so does coverage: its tests need no more of the build than the validators. */
const CHECKS_AT_ONCE = 2;

async function main() {
  if (vitestArguments.includes('--help') || vitestArguments.includes('-h')) return console.log(HELP);
  checkNode();
  await ensureInstalled();
  if (vitestArguments.length === 0) await (await import('./fetch-browser.mjs')).ensureChromium();

  const started = performance.now();
  report(await performAll(STEPS), performance.now() - started);
}

/** Begins every step as soon as it can, the first ones first. @param {readonly Step[]} steps @returns {Promise<Row[]>} */
async function performAll(steps) {
  /** @type {Map<string, Row>} */
  const done = new Map();
  /** @type {Map<string, Promise<void>>} */
  const running = new Map();
  const isReady = (/** @type {Step} */ { name, after = [], needs }) =>
    !done.has(name) && !running.has(name) && [...after, ...(needs ? [needs] : [])].every((other) => done.has(other));
  while (done.size < steps.length) {
    for (const step of steps.filter(isReady).slice(0, CHECKS_AT_ONCE - running.size)) {
      const ended = perform(step, done).then((row) => {
        done.set(step.name, row);
        running.delete(step.name);
      });
      running.set(step.name, ended);
    }
    await Promise.race(running.values());
  }
  return steps.flatMap(({ name }) => done.get(name) ?? []);
}

/** @param {Step} step @param {ReadonlyMap<string, Row>} done @returns {Promise<Row>} */
async function perform(step, done) {
  const needed = done.get(step.needs ?? '');
  if (needed && needed.result !== 'ok') {
    return { name: step.name, result: 'not run', ms: 0, note: `needs "${needed.name}"` };
  }
  console.log(`${bold(step.name)} ...`);
  const started = performance.now();
  const { ok, output = '', note = '' } = await step.run();
  const ms = performance.now() - started;
  if (!ok && output) console.log(`\n${output.trimEnd()}\n`);
  console.log(`${ok ? green('ok') : red('FAILED')} ${step.name} ${dim(duration(ms))}`);
  return { name: step.name, result: ok ? 'ok' : 'failed', ms, note };
}

/** Looks before it generates, which would put right what is wrong here. @returns {Promise<Outcome>} */
async function checkGenerated() {
  const { code, output } = await runGenerator('--check');
  const made = await outcomeOf(ensureGenerated('tests'));
  return code === 0 ? made : { ok: false, output };
}

function build() {
  return outcomeOf(ensureBuilt({ check: 'tests' }));
}

/** @param {Promise<void>} done @returns {Promise<Outcome>} */
async function outcomeOf(done) {
  try {
    await done;
    return { ok: true };
  } catch (error) {
    if (error instanceof Problem) return { ok: false, output: error.message };
    throw error;
  }
}

/** Biome colours its output unless told otherwise. */
function lint() {
  return command([
    tool('@biomejs/biome', 'biome'),
    'ci',
    '--error-on-warnings',
    `--colors=${colours ? 'force' : 'off'}`,
    '.',
  ]);
}

/** @returns {Promise<Outcome>} */
async function checkPackaging() {
  const manifest = (/** @type {string} */ folder) => path.join(folder, 'package.json');
  // The service worker is compiled by itself, and is a part of the page.
  const published = packageFolders().filter(
    (folder) => existsSync(manifest(folder)) && !readJson(manifest(folder)).private,
  );
  const results = await Promise.all(published.map((folder) => command([tool('publint'), '--strict', folder])));
  return { ok: results.every(({ ok }) => ok), output: results.map(({ output }) => output).join('\n') };
}

/** @param {string[]} args @returns {Promise<Outcome>} */
async function command(args) {
  const { code, output } = await runNode(args);
  return { ok: code === 0, output };
}

/** The tests of the protocol, in a run of their own: to measure coverage slows down whatever runs beside. @returns {Promise<Outcome>} */
async function coverReducers() {
  mkdirSync(CACHE, { recursive: true });
  for (const stale of [PROTOCOL_REPORT, COVERAGE_REPORT]) rmSync(stale, { force: true });
  const code = await vitest(PROTOCOL_REPORT, [PROTOCOL_TESTS, '--coverage', '--coverage.reportOnFailure']);
  const coverage = existsSync(COVERAGE_REPORT) ? readJson(COVERAGE_REPORT).total.branches.pct : 0;
  // What fails here is counted, and run again, with all other tests.
  const failed = existsSync(PROTOCOL_REPORT) ? countTests(readJson(PROTOCOL_REPORT)).failed : 1;
  return { ok: coverage === 100 && (code === 0 || failed > 0), note: `branches covered: ${coverage} %` };
}

/** @returns {Promise<Outcome>} */
async function runTests() {
  const whole = vitestArguments.length === 0;
  mkdirSync(CACHE, { recursive: true });
  for (const stale of [TEST_REPORT, SECOND_REPORT, SKIP_NOTES]) rmSync(stale, { force: true });
  const code = await vitest(TEST_REPORT, whole ? WHOLE : vitestArguments, { [SKIP_NOTES_FILE]: SKIP_NOTES });
  if (!existsSync(TEST_REPORT)) return { ok: false };

  const first = readJson(TEST_REPORT);
  if (whole && existsSync(PROTOCOL_REPORT)) first.testResults.push(...readJson(PROTOCOL_REPORT).testResults);
  const again = whole ? secondRun(first) : [];
  if (again.length > 0) {
    console.log(
      `\n${yellow('Once more, by themselves:')} ${again.map((file) => path.relative(ROOT, file)).join(', ')}`,
    );
    await vitest(SECOND_REPORT, again);
  }
  const { titles, problems } = readUnsteady(readFileSync(UNSTEADY_LIST, 'utf8'), new Date());
  counts = countTests(first, existsSync(SECOND_REPORT) ? readJson(SECOND_REPORT) : undefined, titles);
  if (whole) {
    skips = skipReasons(first, existsSync(SKIP_NOTES) ? readJson(SKIP_NOTES) : {});
    await writeTimes(first);
  }
  const passed = code === 0 || (counts.unsteady.length > 0 && counts.failed === 0);
  // Elsewhere, what needs Linux is skipped; there is no need to say so everywhere.
  const silent = process.platform === 'linux' ? skips.silent : [];
  const wrong = [
    ...problems.map((problem) => `${path.relative(ROOT, UNSTEADY_LIST)}: ${problem}`),
    ...silent.map((name) => `skipped in silence; say why in the title, "(skipped: ...)": ${name}`),
  ];
  return { ok: passed && counts.failed === 0 && wrong.length === 0, output: wrong.join('\n') };
}

/** Loaded late: it needs vitest, which a fresh clone does not have yet when this script starts. @param {any} report */
async function writeTimes(report) {
  const order = await import('./test-order.mjs');
  order.writeTimes(report);
}

/** @param {string} reportFile @param {readonly string[]} args @param {Record<string, string>} [env] @returns {Promise<number>} */
async function vitest(reportFile, args, env = {}) {
  const reporting = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`];
  const { code } = await runNode([tool('vitest'), 'run', ...reporting, ...args], { live: true, env });
  return code;
}

/** @param {readonly Row[]} rows @param {number} wholeMs */
function report(rows, wholeMs) {
  const width = Math.max(...rows.map(({ name }) => name.length));
  const paint = { ok: green, failed: red, 'not run': yellow };
  console.log(`\n${bold('Summary')} ${dim(duration(wholeMs))}`);
  for (const { name, result, ms, note } of rows) {
    const time = result === 'not run' ? '' : duration(ms);
    console.log(`  ${name.padEnd(width)}  ${paint[result](result.padEnd(7))}  ${time.padStart(7)}  ${note}`.trimEnd());
  }
  const bad = rows.filter(({ result }) => result !== 'ok');
  const failed = counts.failed + failuresWithoutTests(bad);
  const { passed, skipped, unsteady, races } = counts;
  listNames(red('Failed beside others, passed alone: a race, in the test or in what it tests'), races);
  listNames(yellow('Unsteady (passed alone, tolerated by test/unsteady.json; please look for the race)'), unsteady);
  const lines = [...skips.reasons]
    .sort(([, a], [, b]) => b - a)
    .map(([reason, count]) => `${count} because: ${reason}`);
  listNames(dim('Skipped'), lines);
  const rest = Object.entries({ skipped, unsteady: unsteady.length }).filter(([, count]) => count > 0);
  console.log(`\n${passed} passed, ${failed} failed${rest.map(([what, count]) => `, ${count} ${what}`).join('')}`);
  process.exitCode = bad.length === 0 ? 0 : 1;
}

/** @param {string} heading @param {readonly string[]} names */
function listNames(heading, names) {
  if (names.length > 0) console.log(`\n${heading}:\n${names.map((name) => `  ${name}`).join('\n')}`);
}

/** Failed checks count too, so that the last line never says "0 failed" when the command fails. @param {readonly Row[]} bad */
function failuresWithoutTests(bad) {
  return bad.filter(({ name, result }) => result === 'failed' && !(name === 'tests' && counts.failed > 0)).length;
}

await runMain(main, { hasHelp: true });
