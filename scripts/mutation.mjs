/**
 * Mutation tests: small changes to the code, which a test should notice. A change that no test notices (a survivor) counts
 * against the run, unless `test/mutation/survivors.json` lists it with a reason.
 *
 * Loading the host takes longer than most tests, so nothing is loaded per mutant: Stryker's instrumenter puts the changes
 * into the code, each behind a switch, and a runner for Vitest (`mutation/runner.mjs`) throws one switch after the other in
 * the same worker. A run without changes, which is kept for the next time (`mutation/reach.mjs`), tells which tests reach
 * which mutant and how long they take; each mutant meets only these, short files first, until one fails. Code in processes
 * that tests start is not changed.
 */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { refusedByCompiler } from './mutation/compiler.mjs';
import { codeWith, describe, drawMutants, identity } from './mutation/mutants.mjs';
import { findReach } from './mutation/reach.mjs';
import { runMutants } from './mutation/run.mjs';
import { CACHE } from './mutation/worker.mjs';
import { bold, dim, duration, green, Problem, ROOT, readJson, red, say, yellow } from './process.mjs';

/** Where a mistake loses data or lets somebody in, and the folders of tests that guard it. */
const AREAS = {
  security: {
    sources: [
      'packages/host/src/server',
      ...['addresses', 'paths', 'secrets'].map((name) => `packages/core/src/util/${name}.ts`),
    ],
    tests: ['security', 'discovery'],
  },
  channels: { sources: ['packages/core/src/channels'], tests: ['channels', 'wire', 'sessions'] },
  wire: { sources: ['packages/core/src/wire'], tests: ['wire', 'security/roles'] },
  log: { sources: ['packages/core/src/log', 'packages/host/src/log-sqlite'], tests: ['log', 'search', 'data-folder'] },
  sessions: { sources: ['packages/core/src/sessions'], tests: ['sessions', 'chats', 'plan', 'permissions', 'imports'] },
  'tool-calls': { sources: ['packages/core/src/tool-calls'], tests: ['tool-calls', 'tools'] },
  resources: { sources: ['packages/host/src/workspace/files', 'packages/host/src/blobs'], tests: ['resources'] },
};
const TESTS = ['packages/core/test', 'packages/host/test'];
const CORE = 'packages/core/src';
/** Suites that adapters run, no code of the host. */
const NO_SOURCE = /\/conformance-/;
/** Tests that take minutes, or start many processes; what they prove, shorter ones prove too. */
const TOO_LONG = /\/test\/(crash|fuzz|soak)\/|\/hostile\/|\/(kill|full-host|soak|large-snapshots)\.test\.ts$/;
const KILLED_LEAST_PERCENT = 90;
const SURVIVORS = path.join(ROOT, 'test', 'mutation', 'survivors.json');

/**
 * @typedef {import('./mutation/mutants.mjs').Mutant} Mutant
 * @typedef {import('./mutation/run.mjs').Outcome} Outcome
 * @typedef {{ file: string, code: string, change: string, reason: string }} Accepted
 */

/**
 * Only test files whose path contains one of `tests`, if there are any.
 * @param {{ files: readonly string[], area: string | undefined, seed: number, sample: number | undefined, tests: readonly string[] }} options
 */
export async function proveByMutation({ files, area, seed, sample, tests }) {
  wantedTests = tests;
  process.on('exit', () => rmSync(CACHE, { recursive: true, force: true, maxRetries: 5 }));
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
  const started = performance.now();
  const places = files.length > 0 ? { files: files.map(known) } : placesOf(area);
  const drawn = [];
  for (const [name, sources] of Object.entries(places))
    drawn.push({ name, ...(await drawMutants(sources, { seed, sample })) });
  // One compilation for all areas: loading the types takes longer than checking the mutants.
  const refused = await refusedByCompiler(
    drawn.flatMap((group) => group.mutants),
    CACHE,
  );
  const groups = drawn.map(({ name, mutants, textsForPeople }) => {
    const possible = mutants.filter((mutant) => !refused.has(identity(mutant)));
    const left = mutants.length - possible.length;
    say(dim(`  ${name}: left out ${textsForPeople} in texts for people, ${left} that the compiler refuses`));
    return { name, mutants: possible.slice(0, sample) };
  });
  const { mutants, code } = await codeWith(groups.flatMap((group) => group.mutants));
  console.log(`${mutants.length} mutants, seed ${seed}`);
  const outcomes = await outcomesOf(mutants, { code, sources: Object.values(places).flat() });
  for (const { name, mutants: some } of groups) {
    const wanted = new Set(some.map(identity));
    report({ name, mutants: mutants.filter((mutant) => wanted.has(identity(mutant))), outcomes });
  }
  conclude(performance.now() - started);
}

/**
 * The tests of the areas find most mutants; what they leave meets all the others.
 * @param {readonly Mutant[]} mutants @param {{ code: Record<string, string>, sources: readonly string[] }} options
 */
async function outcomesOf(mutants, { code, sources }) {
  const near = new Set(sources.flatMap((source) => [...testsOf(source)]));
  const outcomes = await runMutants(mutants, { code, testsOf, reach: await reachOf(sources, [...near]) });
  const left = mutants.filter((mutant) => outcomes.get(mutant.id)?.state !== 'killed' && !isAccepted(describe(mutant)));
  const others = allTests().filter((file) => !near.has(file));
  if (left.length === 0 || others.length === 0) return outcomes;
  say(dim(`  ${left.length} are left for the tests of other areas`));
  const further = await runMutants(left, { code, testsOf, reach: await reachOf(sources, others) });
  for (const [id, outcome] of further) if (outcome.state !== 'unreached') outcomes.set(id, outcome);
  return outcomes;
}

/** What is known of the areas is kept. @param {readonly string[]} sources @param {readonly string[]} tests */
async function reachOf(sources, tests) {
  const started = performance.now();
  const guarded = Object.values(placesOf(undefined)).flat();
  const isKept = sources.every((source) => guarded.includes(source));
  const reach = await findReach({ sources: isKept ? guarded : sources, tests, isKept });
  say(dim(`  which of ${tests.length} test files reach which: ${duration(performance.now() - started)}`));
  return reach;
}

/** @param {string | undefined} area one, several with commas between them, or all @returns {Record<string, string[]>} */
function placesOf(area) {
  const names = area?.split(',') ?? Object.keys(AREAS);
  const unknown = names.find((name) => !(name in AREAS));
  if (unknown !== undefined)
    throw new Problem(`there is no area "${unknown}"; there are ${Object.keys(AREAS).join(', ')}`);
  const areas = Object.entries(AREAS).filter(([name]) => names.includes(name));
  const sources = (/** @type {readonly string[]} */ places) =>
    places.flatMap(filesIn).filter((file) => !NO_SOURCE.test(file));
  return Object.fromEntries(areas.map(([name, places]) => [name, sources(places.sources)]));
}

/** @param {string} file */
function known(file) {
  if (existsSync(path.join(ROOT, file))) return file;
  throw new Problem(`there is no file ${file}`);
}

/** @param {string} place a folder or a file @returns {string[]} */
function filesIn(place) {
  if (place.endsWith('.ts')) return [known(place)];
  return readdirSync(path.join(ROOT, place), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
    .map((name) => `${place}/${name.replaceAll(path.sep, '/')}`)
    .sort();
}

function allTests() {
  const isWanted = (/** @type {string} */ file) =>
    wantedTests.length === 0 || wantedTests.some((part) => file.includes(part));
  return TESTS.flatMap(filesIn).filter((file) => file.endsWith('.test.ts') && !TOO_LONG.test(file) && isWanted(file));
}

/** @type {readonly string[]} */
let wantedTests = [];

/** The tests that import a file, and those of its area. @param {string} source @returns {Set<string>} */
function testsOf(source) {
  const folders = Object.values(AREAS)
    .filter((area) => area.sources.some((place) => source.startsWith(place)))
    .flatMap((area) => area.tests.flatMap((name) => TESTS.map((folder) => `${folder}/${name}/`)));
  return at(near, source, () => {
    const isNear = (/** @type {string} */ file) =>
      folders.some((folder) => file.startsWith(folder)) || importsOf(file).includes(source);
    return new Set(allTests().filter(isNear));
  });
}

/** Source → tests. @type {Map<string, Set<string>>} */
const near = new Map();

/** @param {string} file */
function importsOf(file) {
  const text = readFileSync(path.join(ROOT, file), 'utf8');
  return [...text.matchAll(/from '((?:\.|@atrium\/core\/)[^']*)\.js'/g)].map(([, place = '']) => {
    const isRelative = place.startsWith('.');
    const source = isRelative ? path.posix.join(path.posix.dirname(file), place) : place.replace('@atrium/core', CORE);
    return `${source}.ts`;
  });
}

/** @template K, V @param {Map<K, V>} map @param {K} key @param {() => V} make @returns {V} */
function at(map, key, make) {
  const value = map.get(key) ?? make();
  map.set(key, value);
  return value;
}

/** `timeouts` are some of the killed. @type {{ name: string, killed: number, timeouts: number, accepted: number, survived: number }[]} */
const rows = [];

/** @param {Omit<Accepted, 'reason'>} mutant */
function isAccepted({ file, code, change }) {
  /** @type {readonly Accepted[]} */
  const accepted = readJson(SURVIVORS);
  return accepted.some((each) => each.file === file && each.code === code && each.change === change);
}

/** @param {{ name: string, mutants: readonly Mutant[], outcomes: ReadonlyMap<string, Outcome> }} run */
function report({ name, mutants, outcomes }) {
  const counts = { killed: 0, timeouts: 0, accepted: 0, survived: 0 };
  console.log(`\n${bold(name)}`);
  for (const mutant of mutants) {
    const { state, by, isTime } = /** @type {Outcome} */ (outcomes.get(mutant.id));
    const { file, line, code, change } = describe(mutant);
    const word = state === 'killed' ? 'killed' : isAccepted({ file, code, change }) ? 'accepted' : 'survived';
    counts[word] += 1;
    if (word === 'killed' && isTime) counts.timeouts += 1;
    const shown = word === 'survived' ? yellow(state) : word === 'killed' && isTime ? 'killed (timeout)' : word;
    console.log(`${shown} ${file}:${line}\n    ${code}\n    → ${change}${by ? dim(`\n    ${by}`) : ''}`);
  }
  rows.push({ name, ...counts });
}

/** @param {number} ms */
function conclude(ms) {
  console.log(`\n${bold('Summary')} ${duration(ms)}`);
  for (const { name, killed, timeouts, accepted, survived } of rows) {
    const percent = (100 * (killed + accepted)) / Math.max(1, killed + accepted + survived);
    const isEnough = percent >= KILLED_LEAST_PERCENT;
    if (!isEnough) process.exitCode = 1;
    console.log(
      `  ${name.padEnd(10)}  ${isEnough ? green('enough ') : red('too few')}  ${percent.toFixed(1).padStart(5)} %  ${killed} killed (${timeouts} by timeout), ${accepted} accepted, ${survived} survived`,
    );
  }
}
