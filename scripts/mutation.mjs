/**
 * Mutation tests: small changes to the code, which a test should notice. A change that no test notices (a survivor) counts
 * against the run, unless `test/mutation/survivors.json` lists it with a reason.
 *
 * Loading the host takes longer than most tests, so nothing is loaded per mutant: Stryker's instrumenter puts the changes
 * into the code, each behind a switch, and a runner for Vitest (`mutation/runner.mjs`) throws one switch after the other in
 * the same worker. A first run without changes tells which tests reach which mutant and how long they take; each mutant
 * meets only these, short files first. Code in processes that tests start is not changed.
 */

import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import path from 'node:path';
import { Instrumenter } from '@stryker-mutator/instrumenter';
import { bold, dim, duration, green, Problem, ROOT, readJson, red, say, tool, yellow } from './process.mjs';

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
  wire: { sources: ['packages/core/src/wire'], tests: ['wire'] },
  log: { sources: ['packages/core/src/log', 'packages/host/src/log-sqlite'], tests: ['log'] },
  sessions: { sources: ['packages/core/src/sessions'], tests: ['sessions', 'chats'] },
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
/** A mutant meets the tests of its area, then all others that reach it; short files first, and no more than this on an idle machine. */
const NEAR_TESTS_MOST_MS = 30_000;
const OTHER_TESTS_MOST_MS = 10_000;
/** Mutants are tested in so many processes at once; tests mostly wait. */
const LANES = 2;
/** On an idle machine, a test may take this much longer than without the mutant, and four times as long. */
const PATIENCE_MS = 3_000;
/** On an idle machine, a worker that reports nothing for this long hangs in its mutant. */
const HANGS_AFTER_MS = 90_000;
/** How much longer things take because other programs want the processors, too. */
const slowdown = () => Math.max(1, (loadavg()[0] ?? 0) / availableParallelism());
/** Of this run; another may be under way. */
const CACHE = path.join(ROOT, 'node_modules', '.cache', 'atrium', `mutation-${process.pid}`);
const SURVIVORS = path.join(ROOT, 'test', 'mutation', 'survivors.json');

/**
 * @typedef {{ line: number, column: number }} Position from 0
 * @typedef {{ id: string, fileName: string, mutatorName: string, replacement: string, location: { start: Position, end: Position } }} Mutant
 * Milliseconds of each test that reaches the mutant. @typedef {{ mutant: string, file: string, tests: Record<string, number> }} Entry
 * What the runner in Vitest's worker does. `control`: a test that fails runs again without the mutant.
 * @typedef {{ root: string, output: string, sources: Record<string, string>, files: readonly string[], entries?: Record<string, Entry>, control?: boolean, patienceMs: number }} Plan
 * @typedef {{ state: 'killed' | 'suspected' | 'survived' | 'unreached', by?: string }} Outcome
 * @typedef {{ file: string, code: string, change: string, reason: string }} Accepted
 * Test file → milliseconds of each test. @typedef {Map<string, Record<string, number>>} TestsByFile
 * @typedef {{ all: TestsByFile, byFile: Map<string, TestsByFile>, whileLoading: Set<string> }} Reached
 */

/**
 * Only test files whose path contains one of `tests`, if there are any.
 * @param {{ files: readonly string[], area: string | undefined, seed: number, sample: number | undefined, tests: readonly string[] }} options
 */
export async function proveByMutation({ files, area, seed, sample, tests }) {
  wantedTests = tests;
  process.on('exit', () => rmSync(CACHE, { recursive: true, force: true }));
  const started = performance.now();
  const places = files.length > 0 ? { files: files.map(known) } : placesOf(area);
  const drawn = [];
  for (const [name, sources] of Object.entries(places))
    drawn.push({ name, ...(await drawMutants(sources, { seed, sample })) });
  // One compilation for all areas: loading the types takes longer than checking the mutants.
  const refused = await refusedByCompiler(drawn.flatMap((group) => group.mutants));
  const groups = drawn.map(({ name, mutants, textsForPeople }) => {
    const possible = mutants.filter((mutant) => !refused.has(identity(mutant)));
    const left = mutants.length - possible.length;
    say(dim(`  ${name}: left out ${textsForPeople} in texts for people, ${left} that the compiler refuses`));
    return { name, mutants: possible.slice(0, sample) };
  });
  const { mutants, code } = await changed(groups.flatMap((group) => group.mutants));
  console.log(`${mutants.length} mutants, seed ${seed}`);
  const outcomes = await runAll(mutants, code);
  for (const { name, mutants: drawn } of groups) {
    const wanted = new Set(drawn.map(identity));
    report({ name, mutants: mutants.filter((mutant) => wanted.has(identity(mutant))), outcomes });
  }
  conclude(performance.now() - started);
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

/** @param {readonly Mutant[]} mutants @param {Record<string, string>} code */
async function runAll(mutants, code) {
  const started = performance.now();
  const reached = await coverage(code, allTests());
  say(dim(`  which test reaches which: ${duration(performance.now() - started)}`));
  /** @type {Map<string, Outcome>} */
  const outcomes = new Map();
  const lanes = Array.from({ length: LANES }, (_, lane) => mutants.filter((_, index) => index % LANES === lane));
  await Promise.all(
    lanes.map((some, lane) => runMutants({ mutants: some, code, reached, outcomes, lane: String(lane) })),
  );
  return outcomes;
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

/**
 * All mutants of the sources, or some that the seed draws: more than the sample wants, because the compiler refuses up to
 * two thirds of them.
 * @param {readonly string[]} sources @param {{ seed: number, sample: number | undefined }} options
 */
async function drawMutants(sources, { seed, sample }) {
  const { mutants, textsForPeople } = await instrument(sources.map((name) => ({ name, mutate: true })));
  return { mutants: sample === undefined ? mutants : draw(mutants, 4 * sample, seed), textsForPeople };
}

/** The code with these mutants; all the others would slow it down. @param {readonly Mutant[]} drawn */
async function changed(drawn) {
  const names = [...new Set(drawn.map(({ fileName }) => fileName))].sort();
  const placesIn = (/** @type {string} */ name) =>
    drawn.filter(({ fileName }) => fileName === name).map(({ location }) => location);
  const { mutants, code } = await instrument(names.map((name) => ({ name, mutate: placesIn(name) })));
  const wanted = new Set(drawn.map(identity));
  return { mutants: mutants.filter((mutant) => wanted.has(identity(mutant))), code };
}

/** @param {Mutant} mutant */
function identity({ fileName, mutatorName, replacement, location }) {
  return JSON.stringify([fileName, mutatorName, replacement, location]);
}

/** @param {{ name: string, mutate: any }[]} files @returns {Promise<{ mutants: Mutant[], textsForPeople: number, code: Record<string, string> }>} */
async function instrument(files) {
  const quiet = /** @type {any} */ ({ debug() {}, info() {}, isDebugEnabled: () => false });
  const withContent = files.map((file) => ({ ...file, content: readFileSync(path.join(ROOT, file.name), 'utf8') }));
  const result = await new Instrumenter(quiet).instrument(withContent, {
    plugins: null,
    excludedMutations: [],
    ignorers: [{ shouldIgnore: textForPeople }],
    noHeader: false,
  });
  const code = Object.fromEntries(result.files.map(({ name, content }) => [name, `// @ts-nocheck\n${content}`]));
  const mutants = result.mutants.filter(({ status }) => status !== 'Ignored');
  const textsForPeople = result.mutants.length - mutants.length;
  return { mutants: /** @type {Mutant[]} */ (mutants), textsForPeople, code };
}

/**
 * Log lines, and the words of errors: they are for people, and a test that asserts them only repeats them. Codes of
 * errors are one word and stay.
 * @param {any} path of Babel @returns {string | undefined}
 */
function textForPeople(path) {
  if (isLogLine(path.node)) return 'a log line';
  const { type, value, quasis = [] } = path.node;
  const isText = type === 'StringLiteral' || type === 'TemplateLiteral';
  const words = type === 'StringLiteral' ? value : quasis.map((/** @type {any} */ each) => each.value.raw).join('x');
  return isText && /\S \S/.test(words) && path.findParent(isErrorMade) ? 'words of an error' : undefined;
}

/** @param {any} node of Babel */
function isLogLine({ type, callee }) {
  if (type !== 'CallExpression' || callee.property?.name !== 'log') return false;
  const { object } = callee;
  return /logger/i.test(object?.property?.id?.name ?? object?.property?.name ?? object?.name ?? '');
}

/** @param {any} parent of Babel */
function isErrorMade({ node }) {
  return node.type === 'ThrowStatement' || (node.type === 'NewExpression' && /Error$/.test(node.callee.name ?? ''));
}

/**
 * The mutants that the compiler refuses: nobody can ship them, so tests need not notice them. Each stands in a copy of its
 * file; a copy may have errors of its own (a class is not the same type as its copy), so only further ones count.
 * @param {readonly Mutant[]} mutants @returns {Promise<Set<string>>} their identities
 */
async function refusedByCompiler(mutants) {
  /** @type {Set<string>} */
  const refused = new Set();
  for (const name of new Set(mutants.map(packageOf))) {
    const some = mutants.filter((mutant) => packageOf(mutant) === name);
    const folder = path.join(CACHE, name);
    rmSync(folder, { recursive: true, force: true });
    cpSync(path.join(ROOT, name, 'src'), path.join(folder, 'src'), { recursive: true });
    cpSync(path.join(ROOT, name, 'package.json'), path.join(folder, 'package.json'));
    const copies = some.map((mutant, index) => ({ mutant, copy: copyOf(mutant, index), original: copyOf(mutant) }));
    for (const { mutant, copy, original } of copies) {
      const text = readFileSync(path.join(ROOT, mutant.fileName), 'utf8');
      writeFileSync(path.join(CACHE, original), text);
      writeFileSync(path.join(CACHE, copy), mutated(text, mutant));
    }
    const errors = await compile(folder, path.join(ROOT, name, 'tsconfig.json'));
    const count = (/** @type {string} */ file) => errors.filter((line) => line.includes(file)).length;
    for (const { mutant, copy, original } of copies)
      if (count(copy) > count(original)) {
        refused.add(identity(mutant));
      }
  }
  return refused;
}

/** @param {Mutant} mutant */
const packageOf = ({ fileName }) => fileName.split('/').slice(0, 2).join('/');

/** @param {Mutant} mutant @param {number | 'original'} index */
const copyOf = ({ fileName }, index = 'original') => fileName.replace(/\.ts$/, `--${index}.ts`);

/** @param {string} text @param {Mutant} mutant */
function mutated(text, { location: { start, end }, replacement }) {
  const lines = text.split('\n');
  const before = [...lines.slice(0, start.line), lines[start.line]?.slice(0, start.column)];
  const after = [lines[end.line]?.slice(end.column), ...lines.slice(end.line + 1)];
  return `${before.join('\n')}${replacement}${after.join('\n')}`;
}

/** @param {string} folder @param {string} base its settings @returns {Promise<string[]>} lines with errors */
async function compile(folder, base) {
  const { references: _, ...settings } = readJson(base);
  const compilerOptions = {
    ...settings.compilerOptions,
    ...{ rootDir: 'src', noEmit: true, composite: false, incremental: false, tsBuildInfoFile: undefined },
    ...{ noUnusedLocals: false, noUnusedParameters: false, allowUnreachableCode: true },
  };
  const project = path.join(folder, 'tsconfig.json');
  const baseOfBase = path.resolve(path.dirname(base), settings.extends);
  writeFileSync(project, JSON.stringify({ ...settings, extends: baseOfBase, compilerOptions, exclude: [] }));
  const child = spawn(process.execPath, [tool('typescript', 'tsc'), '-p', project, '--pretty', 'false'], {
    cwd: CACHE,
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => (text += chunk));
  await new Promise((resolve, reject) => child.on('close', resolve).on('error', reject));
  return text.split('\n').filter((line) => /^\S.*\): error /.test(line));
}

/** @template T @param {readonly T[]} list @param {number} count @param {number} seed @returns {T[]} */
function draw(list, count, seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  next();
  const left = [...list];
  /** @type {T[]} */
  const chosen = [];
  while (chosen.length < count && left.length > 0) chosen.push(...left.splice(Math.floor(next() * left.length), 1));
  return chosen;
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

/** Runs the tests without a mutant. @param {Record<string, string>} sources @param {readonly string[]} files @returns {Promise<Reached>} */
async function coverage(sources, files) {
  const { lines } = await vitest({ sources, files: files.map((file) => path.join(ROOT, file)) });
  /** @type {Reached} */
  const reached = { all: new Map(), byFile: new Map(), whileLoading: new Set() };
  for (const { file, test, ms } of lines)
    if (test !== undefined)
      Object.assign(
        at(reached.all, file, () => ({})),
        { [test]: ms },
      );
  for (const { file, test, ms, mutants = [], whileLoading = [] } of lines) {
    for (const mutant of whileLoading) reached.whileLoading.add(mutant);
    for (const mutant of mutants) {
      const tests = at(
        at(reached.byFile, mutant, () => new Map()),
        file,
        () => ({}),
      );
      // What hooks of a file reach, each of its tests reaches.
      Object.assign(tests, test === undefined ? reached.all.get(file) : { [test]: ms });
    }
  }
  return reached;
}

/** @template K, V @param {Map<K, V>} map @param {K} key @param {() => V} make @returns {V} */
function at(map, key, make) {
  const value = map.get(key) ?? make();
  map.set(key, value);
  return value;
}

/** @param {{ mutants: readonly Mutant[], code: Record<string, string>, reached: Reached, outcomes: Map<string, Outcome>, lane: string }} options */
async function runMutants({ mutants, code, reached, outcomes, lane }) {
  /** @param {Mutant} mutant */
  const entries = (mutant) => entriesOf(mutant, testsReaching(mutant, reached));
  for (const mutant of mutants)
    outcomes.set(mutant.id, { state: entries(mutant).length > 0 ? 'survived' : 'unreached' });
  const shared = mutants.filter(({ id }) => !reached.whileLoading.has(id));
  await runEntries(shared.flatMap(entries), code, { control: true, outcomes, lane });
  // Code that runs while it is loaded needs a fresh worker for each mutant; so do the mutants that are only suspected.
  for (const mutant of mutants) {
    if (outcomes.get(mutant.id)?.state !== 'suspected' && !reached.whileLoading.has(mutant.id)) continue;
    outcomes.set(mutant.id, { state: entries(mutant).length > 0 ? 'survived' : 'unreached' });
    await runEntries(entries(mutant), code, { control: false, outcomes, lane });
  }
}

/** Which test reaches code that runs only while it is loaded is not known: any of its area may. @param {Mutant} mutant @param {Reached} reached */
function testsReaching({ id, fileName }, { byFile, whileLoading, all }) {
  if (byFile.has(id) || !whileLoading.has(id)) return byFile.get(id) ?? new Map();
  return new Map([...all].filter(([file]) => testsOf(fileName).has(file)));
}

/** The tests of the area first, and short files first. @param {Mutant} mutant @param {TestsByFile} byFile @returns {Entry[]} */
function entriesOf({ id, fileName }, byFile) {
  const near = testsOf(fileName);
  const entries = [...byFile].map(([file, tests]) => ({ mutant: id, file, tests }));
  return [
    ...shortest(
      entries.filter(({ file }) => near.has(file)),
      NEAR_TESTS_MOST_MS * slowdown(),
    ),
    ...shortest(
      entries.filter(({ file }) => !near.has(file)),
      OTHER_TESTS_MOST_MS * slowdown(),
    ),
  ];
}

/** @param {readonly Entry[]} entries @param {number} mostMs */
function shortest(entries, mostMs) {
  /** @param {Entry} entry */
  const cost = ({ tests }) => Object.values(tests).reduce((sum, ms) => sum + ms, 0);
  let sum = 0;
  return entries
    .toSorted((a, b) => cost(a) - cost(b))
    .filter((entry) => {
      sum += cost(entry);
      return sum <= mostMs || sum === cost(entry);
    });
}

/**
 * Runs the entries in one worker; if a mutant hangs or ends it, the rest go on in another.
 * @param {readonly Entry[]} entries @param {Record<string, string>} sources
 * @param {{ control: boolean, outcomes: Map<string, Outcome>, lane: string }} options
 */
async function runEntries(entries, sources, { control, outcomes, lane }) {
  let left = entries;
  while (left.length > 0) {
    const { lines, output } = await vitest({ sources, entries: left, control, lane });
    for (const { noticed, file, test, isSure, error } of lines) {
      if (noticed === undefined) continue;
      outcomes.set(noticed, {
        state: isSure ? 'killed' : 'suspected',
        by: `${file} > ${test ?? '(hook)'}: ${firstLine(error)}`,
      });
    }
    const last = lines.findLast(({ start }) => start !== undefined);
    if (last === undefined) throw new Problem(`no test ran\n${output}`);
    const hasEnded = lines.some(({ end, file }) => end === last.start && file === last.file);
    if (hasEnded) return;
    outcomes.set(last.start, { state: 'killed', by: `${last.file}: the worker hung or ended` });
    left = left.slice(left.findLastIndex(({ mutant }) => mutant === last.start) + 1);
  }
}

/** @param {string | undefined} text */
const firstLine = (text) => (text ?? '').split('\n')[0]?.slice(0, 120) ?? '';

/**
 * @param {{ sources: Record<string, string>, files?: readonly string[], entries?: readonly Entry[], control?: boolean, lane?: string }} what
 * @returns {Promise<{ lines: any[], output: string }>} what the runner reported, and what Vitest printed
 */
async function vitest({ sources, files, entries, control = false, lane = 'coverage' }) {
  const folder = path.join(CACHE, lane);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const named = entries?.map((entry, index) => /** @type {const} */ ([String(index).padStart(6, '0'), entry]));
  for (const [name] of named ?? []) writeFileSync(path.join(folder, `${name}.test.ts`), '');
  const output = path.join(CACHE, `${lane}.jsonl`);
  writeFileSync(output, '');
  /** @type {Plan} */
  const plan = {
    ...{ root: ROOT, output, sources, control, patienceMs: PATIENCE_MS * slowdown() },
    files: files ?? [`${folder}/*.test.ts`],
    ...(named && { entries: Object.fromEntries(named) }),
  };
  const planFile = path.join(CACHE, `${lane}.json`);
  writeFileSync(planFile, JSON.stringify(plan));
  const config = path.join(import.meta.dirname, 'mutation', 'vitest.config.ts');
  const child = spawn(process.execPath, [tool('vitest'), 'run', '--config', config, '--root', ROOT], {
    cwd: ROOT,
    env: { ...process.env, ATRIUM_MUTATION_PLAN: planFile, ATRIUM_DAMAGES: '10' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (chunk) => (text += chunk));
  const started = Date.now();
  const watch = setInterval(() => {
    if (Date.now() - Math.max(started, statSync(output).mtimeMs) > HANGS_AFTER_MS * slowdown()) child.kill('SIGKILL');
  }, 1_000);
  await new Promise((resolve, reject) => child.on('close', resolve).on('error', reject));
  clearInterval(watch);
  const lines = readFileSync(output, 'utf8').split('\n').filter(Boolean);
  return { lines: lines.map((line) => JSON.parse(line)), output: text };
}

/** @type {{ name: string, killed: number, accepted: number, survived: number }[]} */
const rows = [];

/** @param {{ name: string, mutants: readonly Mutant[], outcomes: ReadonlyMap<string, Outcome> }} run */
function report({ name, mutants, outcomes }) {
  /** @type {readonly Accepted[]} */
  const accepted = readJson(SURVIVORS);
  const counts = { killed: 0, accepted: 0, survived: 0 };
  console.log(`\n${bold(name)}`);
  for (const mutant of mutants) {
    const { state, by } = /** @type {Outcome} */ (outcomes.get(mutant.id));
    const { file, line, code, change } = describe(mutant);
    const isAccepted = accepted.some((each) => each.file === file && each.code === code && each.change === change);
    const word = state === 'killed' ? 'killed' : isAccepted ? 'accepted' : 'survived';
    counts[word] += 1;
    const shown = word === 'survived' ? yellow(state) : word;
    console.log(`${shown} ${file}:${line}\n    ${code}\n    → ${change}${by ? dim(`\n    ${by}`) : ''}`);
  }
  rows.push({ name, ...counts });
}

/** @param {number} ms */
function conclude(ms) {
  console.log(`\n${bold('Summary')} ${duration(ms)}`);
  for (const { name, killed, accepted, survived } of rows) {
    const percent = (100 * (killed + accepted)) / Math.max(1, killed + accepted + survived);
    const isEnough = percent >= KILLED_LEAST_PERCENT;
    if (!isEnough) process.exitCode = 1;
    console.log(
      `  ${name.padEnd(10)}  ${isEnough ? green('enough ') : red('too few')}  ${percent.toFixed(1).padStart(5)} %  ${killed} killed, ${accepted} accepted, ${survived} survived`,
    );
  }
}

/** @param {Mutant} mutant */
function describe({ fileName, location, mutatorName, replacement }) {
  const lines = readFileSync(path.join(ROOT, fileName), 'utf8').split('\n');
  return {
    file: fileName,
    line: location.start.line + 1,
    code: (lines[location.start.line] ?? '').trim(),
    change: `${mutatorName}: ${replacement.split('\n')[0]}`,
  };
}
