/**
 * `npm run pack`: one package `atrium` in `dist/package`, and its tarball beside it. In the package are the bundle of the
 * command and the built page; native packages are its only dependencies. `npm publish dist/package` would publish it.
 */
import { cpSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Problem, ROOT, readJson, runMain, say } from './process.mjs';
import { checkNode, ensureBuilt, ensureInstalled, runNpm } from './setup.mjs';
import { billOfMaterials, bundledPackages, lockedPackages, notices } from './third-party.mjs';

const OUT = path.join(ROOT, 'dist');
const PAGE = path.join(ROOT, 'packages', 'web', 'dist');

async function main() {
  checkNode();
  await ensureInstalled();
  await ensureBuilt({ check: 'nothing' });
  say('Packing ...');
  const folder = path.join(OUT, 'package');
  await makePackage(folder);
  const { code } = await runNpm(['pack', folder, '--pack-destination', OUT, '--silent']);
  if (code !== 0) throw new Problem(`\`npm pack\` failed with exit code ${code}; its own message is above.`);
  const { name, version } = readJson(path.join(folder, 'package.json'));
  const tarball = path.join('dist', `${name}-${version}.tgz`);
  say(`${tarball}: ${megabytes(statSync(path.join(ROOT, tarball)).size)}, unpacked ${megabytes(sizeOf(folder))}.`);
  say(`Try it: npx ./${tarball} serve`);
}

/**
 * @param {string} folder it is emptied first
 * @returns {Promise<{ ofCommand: string[], ofPage: string[] }>} the files of packages that are in the command, and in the page
 */
export async function makePackage(folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const { bundleCommand, modulesOfPage, NATIVE } = await import('./bundle.mjs');
  const ofCommand = await bundleCommand({ outDir: path.join(folder, 'lib'), command: 'atrium.cjs', page: '../page' });
  cpSync(PAGE, path.join(folder, 'page'), { recursive: true });
  for (const file of ['LICENSE', 'scripts/package/README.md'])
    cpSync(path.join(ROOT, file), path.join(folder, path.basename(file)));

  const manifest = manifestOf(NATIVE);
  const ofPage = await modulesOfPage();
  const bundled = bundledPackages([...ofCommand, ...ofPage]);
  writeJson(path.join(folder, 'package.json'), manifest);
  writeJson(path.join(folder, 'sbom.json'), billOfMaterials({ manifest, bundled, installed: lockedPackages(NATIVE) }));
  writeFileSync(path.join(folder, 'THIRD-PARTY-NOTICES.txt'), notices(bundled));
  return { ofCommand, ofPage };
}

/** Native packages in exactly the versions that were tested; agents are for users to add. @param {readonly string[]} native */
function manifestOf(native) {
  const { version, description, license, engines } = readJson(path.join(ROOT, 'package.json'));
  const versionOf = (/** @type {string} */ name) =>
    readJson(path.join(ROOT, 'node_modules', name, 'package.json')).version;
  return {
    ...{ name: 'atrium', version, description, license, engines },
    bin: { atrium: 'lib/atrium.cjs' },
    files: ['lib', 'page', 'sbom.json', 'THIRD-PARTY-NOTICES.txt'],
    dependencies: Object.fromEntries(native.map((name) => [name, versionOf(name)])),
  };
}

/** @param {string} file @param {unknown} value */
function writeJson(file, value) {
  writeFileSync(file, `${JSON.stringify(value, undefined, 2)}\n`);
}

/** @param {string} folder */
function sizeOf(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, file) => sum + statSync(path.join(file.parentPath, file.name)).size, 0);
}

/** @param {number} bytes */
function megabytes(bytes) {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await runMain(main);
