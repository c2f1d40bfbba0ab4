/**
 * Brings a fresh clone to the point where it can run: the right Node, the dependencies, the build. Each step is skipped
 * when a stamp says that nothing has changed since it last succeeded.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { duration, Problem, ROOT, readJson, run, runNode, say, tool } from './process.mjs';

const LOCK_FILE = path.join(ROOT, 'package-lock.json');
const MODULES = path.join(ROOT, 'node_modules');
/** npm writes this file as the last act of every successful install. */
const NPM_MARK = path.join(MODULES, '.package-lock.json');
const INSTALL_STAMP = path.join(MODULES, '.atrium-install');
/** How much a build has checked, from least to most; each has the stamp of its last success. */
const CHECKS = /** @type {const} */ (['nothing', 'packages', 'tests']);
const PAGE_STAMP = path.join(MODULES, '.cache', 'atrium', 'page-stamp');
const GENERATOR = path.join(ROOT, 'packages', 'protocol', 'scripts', 'generate.ts');
/** Folders that only the generator writes. */
const GENERATED = ['packages/protocol/schema', 'packages/protocol/generated'];

/** Fails when this Node is older than `engines.node` of package.json. */
export function checkNode(running = process.versions.node) {
  const wanted = String(readJson(path.join(ROOT, 'package.json')).engines.node).replace(/[^\d.]/g, '');
  if (isOlder(running, wanted)) {
    throw new Problem(
      `Atrium needs Node ${wanted} or newer; this is Node ${running} (${process.execPath}).\n` +
        'Install a newer Node (https://nodejs.org, or `nvm install --lts`) and run the command again.',
    );
  }
}

/** @param {string} version @param {string} than */
function isOlder(version, than) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [wantedMajor = 0, wantedMinor = 0] = than.split('.').map(Number);
  return major < wantedMajor || (major === wantedMajor && minor < wantedMinor);
}

/** Installs the dependencies when there are none, or when they are not those of package-lock.json. */
export async function ensureInstalled() {
  const node = `node ${process.versions.node.split('.')[0]}`;
  const stamp = `${node}, lock ${createHash('sha256').update(readFileSync(LOCK_FILE)).digest('hex')}`;
  const stored = readIfThere(INSTALL_STAMP);
  if (stored === stamp && existsSync(NPM_MARK)) return;

  const sameNode = stored === undefined || stored.startsWith(`${node},`);
  if (!(sameNode && installedByHand())) await install();
  writeFileSync(INSTALL_STAMP, stamp);
}

/** Whether somebody ran `npm ci` or `npm install` after the lock file last changed. */
function installedByHand() {
  return existsSync(NPM_MARK) && statSync(NPM_MARK).mtimeMs >= statSync(LOCK_FILE).mtimeMs;
}

async function install() {
  say('Installing dependencies (npm ci) ...');
  const started = performance.now();
  const { code } = await runNpm(['ci', '--no-audit', '--no-fund']);
  if (code !== 0) {
    throw new Problem(
      `\`npm ci\` failed with exit code ${code}; its own message is above.\n` +
        '- It could not reach the registry: connect to the network, or point npm at a mirror\n' +
        '  (`npm config set registry <address>`), then run the command again.\n' +
        '- The lock file is not in sync with a package.json: run `npm install` and commit package-lock.json.',
    );
  }
  say(`Installed in ${duration(performance.now() - started)}.`);
}

/** The build is a step of its own here, so that a compile error is not reported as a failed install. @param {string[]} args */
export function runNpm(args) {
  const options = { live: true, env: { ATRIUM_SKIP_PREPARE: '1' } };
  const npm = process.env.npm_execpath;
  if (npm && /npm-cli\.c?js$/.test(npm)) return runNode([npm, ...args], options);
  return run('npm', args, { ...options, shell: process.platform === 'win32' });
}

/**
 * Generates and compiles when a source file has changed since the last successful build. Checking types takes most of
 * the time: `npm start` does without, and only `npm test` checks the tests, too.
 * @param {{ force?: boolean, check?: typeof CHECKS[number] }} [options]
 */
export async function ensureBuilt({ force = false, check = 'packages' } = {}) {
  const stamp = sourceStamp();
  if (!force && isBuilt(check, stamp)) return;

  const started = performance.now();
  for (const checked of CHECKS) rmSync(buildStamp(checked), { force: true });
  say('Building: schemas and validators ...');
  if (force || generatedFrom !== stamp) await generate();
  say(check === 'nothing' ? 'Building: the packages ...' : 'Building: the packages, with all types checked ...');
  await compile({ force, check });
  say('Building: the page ...');
  await buildPage();
  say('Building: the command ...');
  await bundle();
  mkdirSync(path.dirname(buildStamp(check)), { recursive: true });
  writeFileSync(buildStamp(check), stamp);
  say(`Built in ${duration(performance.now() - started)}.`);
}

/** The sources that this process has generated from, so that a build right after does not do it again. */
let generatedFrom = '';

/** Schemas and validators only, for tests that run beside the rest of the build. @param {typeof CHECKS[number]} check */
export async function ensureGenerated(check) {
  const stamp = sourceStamp();
  if (isBuilt(check, stamp)) return;
  await generate();
  generatedFrom = stamp;
}

/** @param {typeof CHECKS[number]} check @param {string} stamp */
function isBuilt(check, stamp) {
  const enough = CHECKS.slice(CHECKS.indexOf(check)).map(buildStamp);
  return enough.some((file) => readIfThere(file) === stamp) && outputsExist();
}

/** @param {typeof CHECKS[number]} checked */
function buildStamp(checked) {
  return path.join(MODULES, '.cache', 'atrium', `built-and-checked-${checked}`);
}

async function generate() {
  if (!existsSync(GENERATOR)) {
    throw new Problem(
      `The generator ${path.relative(ROOT, GENERATOR)} is missing; validators and schemas come from it.\n` +
        'Restore the file (`git status` shows whether it was deleted) and run the command again.',
    );
  }
  const { code, output } = await runGenerator();
  if (code !== 0) throw new Problem(`Generating schemas and validators failed:\n\n${output.trimEnd()}`);
  if (output.trim()) say(output.trimEnd());
}

/** `--check` writes nothing and fails when a generated file is not what the sources say. @param {string[]} args */
export function runGenerator(...args) {
  return runNode(['--import', 'tsx', GENERATOR, ...args]);
}

/** Each checker works out the types of the protocol for itself: four in a project take twice the time that one takes. */
const AT_ONCE = ['--checkers', '1', '--builders', String(Math.min(4, availableParallelism()))];

/**
 * The compiler never removes what it once wrote; `force` starts from nothing.
 * @param {{ force: boolean, check: typeof CHECKS[number] }} options
 */
async function compile({ force, check }) {
  if (force) for (const folder of packageFolders()) rmSync(path.join(folder, 'dist'), { recursive: true, force: true });
  const projects = check === 'tests' ? [] : packageFolders();
  const options = [...(force ? ['--force'] : []), ...(check === 'nothing' ? ['--noCheck'] : [])];
  const args = [tool('typescript', 'tsc'), '-b', ...projects, ...AT_ONCE, ...options];
  const { code, output } = await runNode(args);
  if (code !== 0) throw new Problem(`Compiling failed (tsc -b):\n\n${output.trimEnd()}`);
}

/** What goes into the page: its own files, and the packages that it is bundled from. */
const PAGE_FOLDERS = ['packages/web', 'packages/client', 'packages/link', 'packages/protocol'];

/** The page is bundled when something that goes into it has changed; most changes of the host do not touch it. */
async function buildPage() {
  const folder = path.join(ROOT, 'packages', 'web');
  const stamp = stampOf(PAGE_FOLDERS.flatMap(sourcesUnder).filter((file) => !/\/tests?\//.test(file)));
  if (readIfThere(PAGE_STAMP) === stamp && existsSync(path.join(folder, 'dist', 'index.html'))) return;
  const { code, output } = await runNode([
    tool('vite'),
    'build',
    folder,
    '--config',
    path.join(folder, 'vite.config.ts'),
  ]);
  if (code !== 0) throw new Problem(`Building the page failed (vite build):\n\n${output.trimEnd()}`);
  mkdirSync(path.dirname(PAGE_STAMP), { recursive: true });
  writeFileSync(PAGE_STAMP, stamp);
}

const BUNDLE = path.join(ROOT, 'packages', 'cli', 'dist', 'bundle');
const KEEP_CHUNKS_MS = 24 * 60 * 60 * 1_000;

/** The command in few files, which start in a third of the time. `packages/cli/bin/atrium.js` compares the times. */
async function bundle() {
  const stamp = path.join(BUNDLE, 'builds.json');
  rmSync(stamp, { force: true });
  // Only now: the bundler is one of the packages that have just been installed.
  const { bundleCommand } = await import('./bundle.mjs');
  await bundleCommand({ outDir: BUNDLE, command: '../../bin/atrium.js', page: '../../../web/dist' });
  const builds = packageFolders()
    .map((folder) => path.join(folder, 'dist', '.tsbuildinfo'))
    .filter((file) => existsSync(file))
    .map((file) => ({ file: path.relative(BUNDLE, file), mtimeMs: statSync(file).mtimeMs }));
  writeFileSync(stamp, JSON.stringify(builds));
  removeOldChunks();
}

/** A host that is running may load files of an earlier build yet. */
function removeOldChunks() {
  for (const name of readdirSync(BUNDLE)) {
    const file = path.join(BUNDLE, name);
    if (statSync(file).mtimeMs < Date.now() - KEEP_CHUNKS_MS) rmSync(file);
  }
}

/** The folders of all packages that the compiler builds: those that tsconfig.json refers to. */
export function packageFolders() {
  /** @type {{ path: string }[]} */
  const references = readJson(path.join(ROOT, 'tsconfig.json')).references;
  return references
    .filter((reference) => !reference.path.endsWith('.json'))
    .map(({ path: folder }) => path.join(ROOT, folder));
}

/** What the generator wrote is there, and every package has its `dist`. The service worker is a part of the page's. */
export function outputsExist() {
  const outputs = [
    ...GENERATED.map((folder) => path.join(ROOT, folder)),
    ...packageFolders()
      .filter((folder) => existsSync(path.join(folder, 'package.json')))
      .map((folder) => path.join(folder, 'dist')),
  ];
  return outputs.every((folder) => existsSync(folder));
}

const NOT_SOURCE = new Set(['node_modules', 'dist', 'coverage', 'fixtures']);

/** One line per source file: path, size, time of change. Equal text means that there is nothing to build. */
function sourceStamp() {
  const rootFiles = readdirSync(ROOT).filter((name) =>
    /^tsconfig.*\.json$|^package\.json$|^vitest\.config\.ts$/.test(name),
  );
  return stampOf([...rootFiles, ...['packages', 'scripts', 'test'].flatMap(sourcesUnder)]);
}

/** @param {string[]} files */
function stampOf(files) {
  const lines = files.map((file) => {
    const { size, mtimeMs } = statSync(path.join(ROOT, file));
    return `${file} ${size} ${mtimeMs}`;
  });
  return [`node ${process.versions.node}`, ...lines.sort()].join('\n');
}

/** @param {string} folder @returns {string[]} */
function sourcesUnder(folder) {
  if (!existsSync(path.join(ROOT, folder))) return [];
  return readdirSync(path.join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const file = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return NOT_SOURCE.has(entry.name) || GENERATED.includes(file) ? [] : sourcesUnder(file);
    return /\.([cm]?[jt]sx?|json|css|html|svg|webmanifest)$/.test(entry.name) ? [file] : [];
  });
}

/** @param {string} file @returns {string | undefined} */
function readIfThere(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}
