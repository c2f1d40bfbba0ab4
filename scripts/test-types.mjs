/**
 * `npm run test:types`: the libraries for programs, as they would be published. Packs client, provider and what they need,
 * installs the packages in an empty folder, and compiles a program there with the oldest TypeScript that we promise and with
 * newer ones, the declarations of our packages included.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bold, dim, duration, green, Problem, ROOT, readJson, red, run, runMain, say } from './process.mjs';
import { checkNode, ensureBuilt, ensureInstalled, runNpm } from './setup.mjs';

const LIBRARIES = ['link', 'protocol', 'client', 'provider'];
/** The oldest that we promise, and the one that this repository is built with. */
const COMPILERS = ['5.0.4', readJson(path.join(ROOT, 'node_modules', 'typescript', 'package.json')).version];
const CACHE = path.join(ROOT, 'node_modules', '.cache', 'atrium', 'typescript');

/** Where programs run, and how they find packages. A page has no types of Node, and a server none of a page. */
const SETUPS = [
  { module: 'esnext', moduleResolution: 'bundler', lib: ['es2022', 'dom'], types: [] },
  { module: 'node16', moduleResolution: 'node16', lib: ['es2022'], types: ['node'] },
];

const HELP = `Usage: npm run test:types

Packs @atrium/${LIBRARIES.join(', @atrium/')}, installs them in an empty folder, and compiles test/sdk/program.ts there with
TypeScript ${COMPILERS.join(', ')}, with \`skipLibCheck: false\` and both ways to find packages (a minute).
Needs a registry the first time. The compilers are kept in node_modules/.cache (about 60 MB each).`;

async function main() {
  if (process.argv.includes('--help') || process.argv.includes('-h')) return console.log(HELP);
  checkNode();
  await ensureInstalled();
  await ensureBuilt({ check: 'nothing' });
  const folder = mkdtempSync(path.join(tmpdir(), 'atrium-types-'));
  try {
    await installLibraries(folder);
    let isFine = true;
    for (const version of COMPILERS) isFine = (await compileWith(version, folder)) && isFine;
    process.exitCode = isFine ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {string} folder */
async function installLibraries(folder) {
  say(bold(`packing ${LIBRARIES.join(', ')} ...`));
  for (const name of LIBRARIES)
    await npm(['pack', path.join(ROOT, 'packages', name), '--pack-destination', folder, '--silent']);
  const tarballs = readdirSync(folder).filter((file) => file.endsWith('.tgz'));
  const nodeTypes = readJson(path.join(ROOT, 'package.json')).devDependencies['@types/node'];
  const dependencies = Object.fromEntries(
    tarballs.map((file) => [`@atrium/${/^atrium-([a-z]+)-/.exec(file)?.[1]}`, `file:${file}`]),
  );
  const manifest = { private: true, type: 'module', dependencies: { ...dependencies, '@types/node': nodeTypes } };
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify(manifest));
  await npm(['install', '--prefix', folder, '--no-audit', '--no-fund', '--silent']);
  cpSync(path.join(ROOT, 'test', 'sdk', 'program.ts'), path.join(folder, 'program.ts'));
}

/** @param {string} version @param {string} folder @returns {Promise<boolean>} whether it had nothing to say */
async function compileWith(version, folder) {
  const compiler = await ensureCompiler(version);
  let isFine = true;
  for (const setup of SETUPS) {
    const compilerOptions = { ...setup, target: 'es2022', strict: true, skipLibCheck: false, noEmit: true };
    const config = path.join(folder, 'tsconfig.json');
    writeFileSync(config, JSON.stringify({ compilerOptions, files: ['program.ts'] }));
    const started = performance.now();
    const { code, output } = await run(process.execPath, [compiler, '-p', config], {});
    const what = `TypeScript ${version}, ${setup.moduleResolution}`;
    console.log(`${code === 0 ? green('ok') : red('FAILED')} ${what} ${dim(duration(performance.now() - started))}`);
    if (code !== 0) console.log(output);
    isFine &&= code === 0;
  }
  return isFine;
}

/** @param {string} version @returns {Promise<string>} the script of the compiler */
async function ensureCompiler(version) {
  const folder = path.join(CACHE, version);
  const script = path.join(folder, 'node_modules', 'typescript', 'bin', 'tsc');
  if (existsSync(script)) return script;
  mkdirSync(folder, { recursive: true });
  say(`Installing TypeScript ${version} ...`);
  await npm(['install', '--prefix', folder, '--no-audit', '--no-fund', '--silent', `typescript@${version}`]);
  return script;
}

/** @param {string[]} args */
async function npm(args) {
  const { code } = await runNpm(args);
  if (code !== 0) throw new Problem(`\`npm ${args[0]}\` failed with exit code ${code}; its own message is above.`);
}

await runMain(main, { hasHelp: true });
