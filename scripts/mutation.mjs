/**
 * Mutation tests with Stryker: it changes the code in small ways and runs the tests that should notice. A change that no
 * test notices (a survivor) counts against the run, unless `test/mutation/survivors.json` lists it with a reason.
 *
 * Almost every test of the host loads almost all of it. So the tests of a file are those of its folder and those that import
 * it; of these, Stryker runs the ones that reach the changed line.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { bold, duration, green, Problem, ROOT, readJson, red, run, tool, yellow } from './process.mjs';

/** Where a mistake loses data, or lets somebody in; and the folders of tests that hold it to its word. */
const GUARDED = /** @type {const} */ ({
  'packages/host/src/server': ['security', 'wire', 'server'],
  'packages/core/src/channels': ['channels', 'sessions', 'wire'],
  'packages/core/src/wire': ['wire'],
  'packages/core/src/log': ['log'],
  'packages/host/src/log-sqlite': ['log'],
  'packages/core/src/sessions': ['sessions'],
  'packages/core/src/tool-calls': ['broker', 'tool-calls'],
  'packages/host/src/workspace/files': ['resources', 'files'],
  'packages/host/src/blobs': ['blobs', 'wire', 'sessions'],
});
const CORE = 'packages/core/src';
const TESTS = ['packages/core/test', 'packages/host/test'];
/** Tests that take minutes, or start many processes; what they prove, shorter ones prove too. */
const TOO_LONG = /\/test\/(crash|fuzz|soak)\/|\/hostile\//;
const KILLED_LEAST_PERCENT = 90;
const SAMPLE_PER_FILE = 10;
const CACHE = path.join(ROOT, 'node_modules', '.cache', 'atrium');
const REPORT = path.join(CACHE, 'mutation.json');
const SURVIVORS = path.join(ROOT, 'test', 'mutation', 'survivors.json');

/**
 * @typedef {{ files: readonly string[], seed: number, sample?: number }} MutationOptions
 * @typedef {{ line: number, column: number }} Position
 * @typedef {{ id: string, mutatorName: string, replacement?: string, status: string, location: { start: Position, end: Position } }} Mutant
 * `code`: the line before the change. @typedef {{ file: string, line: number, code: string, change: string }} Survivor
 * @typedef {{ file: string, code: string, change: string, reason: string }} Accepted
 */

/** @param {MutationOptions} options */
export async function proveByMutation({ files, seed, sample }) {
  const sources = files.length > 0 ? files.map(known) : Object.keys(GUARDED).flatMap(sourcesIn);
  const targets = sample === undefined ? sources : sampleLines(sources, { seed, sample });
  const mutated = [...new Set(targets.map((target) => target.replace(/:.*/, '')))];
  const tests = testsOf(mutated);
  if (tests.length === 0) throw new Problem(`no test imports ${mutated.join(', ')}: write one first`);
  console.log(
    `${mutated.length} files, ${sample === undefined ? 'all lines' : `${targets.length} lines (seed ${seed})`}`,
  );
  console.log(`tests: ${tests.join(', ')}`);
  const started = performance.now();
  await stryker(targets, tests);
  report(readJson(REPORT).files, performance.now() - started);
}

/** @param {string} file */
function known(file) {
  if (existsSync(path.join(ROOT, file))) return file;
  throw new Problem(`there is no file ${file}`);
}

/** @param {string} folder */
function sourcesIn(folder) {
  return filesIn(folder).filter((name) => !name.includes('/contract/'));
}

/** @param {string} folder */
function filesIn(folder) {
  return readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
    .map((name) => `${folder}/${name.replaceAll(path.sep, '/')}`)
    .sort();
}

/**
 * Lines with code, as Stryker takes them (`file:from-to`), of a few files: each file brings its own tests along.
 * @param {readonly string[]} sources @param {{ seed: number, sample: number }} options
 */
function sampleLines(sources, { seed, sample }) {
  const next = randomFrom(seed);
  /** @param {string[]} list */
  const draw = (list) => String(list.splice(Math.floor(next() * list.length), 1)[0]);
  const files = [...sources];
  /** @type {string[]} */
  const chosen = [];
  while (chosen.length < sample && files.length > 0) {
    const lines = linesOf(draw(files));
    for (let left = SAMPLE_PER_FILE; left > 0 && lines.length > 0 && chosen.length < sample; left -= 1)
      chosen.push(draw(lines));
  }
  return chosen.sort();
}

/** @param {string} file */
function linesOf(file) {
  const lines = readFileSync(path.join(ROOT, file), 'utf8').split('\n');
  return lines.flatMap((line, index) => (hasCode(line) ? `${file}:${index + 1}-${index + 1}` : []));
}

/** Not what the compiler removes, and not a lone bracket. @param {string} line */
function hasCode(line) {
  return (
    /[\w'"`]/.test(line) && !/^\s*(\/\/|\/?\*|import |export (type|interface)|type |interface |readonly )/.test(line)
  );
}

/** @param {number} seed @returns {() => number} in [0, 1) */
function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** The tests that import one of the files, and those of its folder. @param {readonly string[]} sources */
function testsOf(sources) {
  const tests = TESTS.flatMap(filesIn).filter((file) => file.endsWith('.test.ts') && !TOO_LONG.test(file));
  const folders = Object.entries(GUARDED)
    .filter(([folder]) => sources.some((source) => source.startsWith(`${folder}/`)))
    .flatMap(([, names]) => names.flatMap((name) => TESTS.map((folder) => `${folder}/${name}/`)));
  return tests.filter(
    (file) =>
      folders.some((folder) => file.startsWith(folder)) || importsOf(file).some((other) => sources.includes(other)),
  );
}

/** @param {string} file */
function importsOf(file) {
  const text = readFileSync(path.join(ROOT, file), 'utf8');
  return [...text.matchAll(/from '((?:\.|@atrium\/core\/)[^']*)\.js'/g)].map(([, place = '']) => {
    const isRelative = place.startsWith('.');
    const source = isRelative ? path.posix.join(path.posix.dirname(file), place) : place.replace('@atrium/core', CORE);
    return `${source}.ts`;
  });
}

/** @param {readonly string[]} targets @param {readonly string[]} tests */
async function stryker(targets, tests) {
  mkdirSync(CACHE, { recursive: true });
  rmSync(REPORT, { force: true });
  // Stryker copies the repository; settings outside of it would not find the copy.
  const vitestFile = path.join(ROOT, 'vitest.mutation.config.ts');
  const settingsFile = path.join(CACHE, 'stryker.json');
  writeFileSync(
    vitestFile,
    `import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.config.js';
const { test, ...rest } = base;
export default mergeConfig(rest, defineConfig({ test: { ...test, include: ${JSON.stringify(tests)} } }));
`,
  );
  writeFileSync(settingsFile, JSON.stringify(settingsFor(targets)));
  try {
    const { code } = await run(process.execPath, [tool('@stryker-mutator/core', 'stryker'), 'run', settingsFile], {
      live: true,
    });
    if (code !== 0 || !existsSync(REPORT)) throw new Problem('Stryker could not run; it says why above');
  } finally {
    rmSync(vitestFile, { force: true });
  }
}

/** @param {readonly string[]} targets */
function settingsFor(targets) {
  return {
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner'],
    vitest: { configFile: 'vitest.mutation.config.ts', related: false },
    coverageAnalysis: 'perTest',
    mutate: targets,
    // It would rewrite tsconfig.json with the JavaScript API of TypeScript, which version 7 does not have.
    tsconfigFile: 'none',
    concurrency: 2,
    tempDirName: path.join(CACHE, 'stryker'),
    reporters: ['json', 'progress-append-only'],
    jsonReporter: { fileName: REPORT },
    allowConsoleColors: false,
    dryRunTimeoutMinutes: 15,
  };
}

/** @param {Readonly<Record<string, { source: string, mutants: readonly Mutant[] }>>} files @param {number} ms */
function report(files, ms) {
  const mutants = Object.entries(files).flatMap(([file, { source, mutants }]) =>
    mutants.map((mutant) => ({ file, source, mutant })),
  );
  const count = (/** @type {readonly string[]} */ ...statuses) =>
    mutants.filter(({ mutant }) => statuses.includes(mutant.status)).length;
  const killed = count('Killed', 'Timeout');
  const left = mutants.filter(({ mutant }) => ['Survived', 'NoCoverage'].includes(mutant.status)).map(survivorOf);
  /** @type {readonly Accepted[]} */
  const accepted = readJson(SURVIVORS);
  const isAccepted = (/** @type {Survivor} */ { file, code, change }) =>
    accepted.some((each) => each.file === file && each.code === code && each.change === change);
  const fresh = left.filter((survivor) => !isAccepted(survivor));
  const percent =
    killed + left.length === 0 ? 100 : (100 * (killed + left.length - fresh.length)) / (killed + left.length);

  for (const { file, line, code, change } of fresh)
    console.log(`${yellow('survived')} ${file}:${line}\n    ${code}\n    → ${change}`);
  console.log(`\n${bold('Summary')} ${duration(ms)}`);
  console.log(
    `  ${killed} killed, ${left.length - fresh.length} accepted, ${fresh.length} survived: ${percent.toFixed(1)} %`,
  );
  const ok = percent >= KILLED_LEAST_PERCENT;
  console.log(ok ? green(`  at least ${KILLED_LEAST_PERCENT} %`) : red(`  less than ${KILLED_LEAST_PERCENT} %`));
  process.exitCode = ok ? 0 : 1;
}

/** @param {{ file: string, source: string, mutant: Mutant }} found @returns {Survivor} */
function survivorOf({ file, source, mutant }) {
  const { start } = mutant.location;
  const code = (source.split('\n')[start.line - 1] ?? '').trim();
  return {
    file,
    line: start.line,
    code,
    change: `${mutant.mutatorName}: ${(mutant.replacement ?? '').split('\n')[0]}`,
  };
}
