/**
 * The programs that tests start as processes of their own, bundled once per change of the sources. A bundle starts in a
 * third of the time that the many files of `dist` take (and in a sixth of `node --import tsx`), and it is never older than
 * the sources. Vitest runs `setup` before the first test, also when only one file is tested.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bundleCommand, bundlePrograms, PACKAGES } from './bundle.mjs';
import { stopSharedPostgres } from './postgres.mjs';
import { ROOT } from './process.mjs';

/** Name → source. A test finds the bundle with `inject('programs')`, and in it the command, as it is shipped, as `atrium`. */
const ENTRIES = {
  'crash-host': 'packages/host/test/support/crash-host.ts',
  'automation-host': 'packages/host/test/support/automation-host.ts',
  'hostile-host': 'packages/host/test/gateway/hostile/support/host-entry.ts',
  'log-appender': 'packages/host/test/support/log-appender.ts',
  'log-steps': 'packages/host/test/support/log-steps.ts',
  'log-opener': 'packages/host/test/support/log-opener.ts',
  'cluster-appender': 'packages/host/test/support/cluster-appender.ts',
  'copilot-child': 'packages/host/test/support/copilot-child.ts',
  host: 'packages/host/src/index.ts',
};

/** Programs of which every start is dear because of a large package: that is inside. */
const WHOLE_ENTRIES = { 'mcp-server': 'packages/host/test/support/mcp-server.mjs' };

/** What the bundles are made of; the page is found at run time. */
const SOURCES = [...PACKAGES.map((name) => `${name}/src`), 'host/test'].map((folder) =>
  path.join(ROOT, 'packages', folder),
);
const CACHE = path.join(ROOT, 'node_modules', '.cache', 'atrium', 'programs');
/** Other runs in the same clone may still use an older bundle; after this time none does. */
const KEEP_MS = 60 * 60 * 1_000;

/** @typedef {Readonly<Record<keyof typeof ENTRIES | keyof typeof WHOLE_ENTRIES | 'atrium', string>>} TestPrograms the path of each program */

/**
 * Vitest's global setup. `engineFolder` is where the tests of this run leave word of the PostgreSQL server that they share.
 * @param {{ provide(key: 'programs', value: TestPrograms): void, provide(key: 'engineFolder', value: string): void }} project
 */
export async function setup(project) {
  project.provide('programs', await ensurePrograms());
  const engineFolder = mkdtempSync(path.join(tmpdir(), 'atrium-engine-'));
  project.provide('engineFolder', engineFolder);
  return () => stopSharedPostgres(engineFolder);
}

/** Builds the programs unless those at hand are made of the same sources. @returns {Promise<TestPrograms>} */
export async function ensurePrograms() {
  const folder = path.join(CACHE, fingerprint());
  if (!existsSync(folder)) {
    mkdirSync(CACHE, { recursive: true });
    removeOld();
    const fresh = mkdtempSync(path.join(CACHE, 'fresh-'));
    await bundlePrograms({ entries: ENTRIES, outDir: fresh });
    await bundlePrograms({ entries: WHOLE_ENTRIES, outDir: path.join(fresh, 'whole'), isWhole: true });
    const page = path.join(ROOT, 'packages', 'web', 'dist');
    await bundleCommand({ outDir: path.join(fresh, 'atrium'), command: 'atrium.cjs', page });
    moveInto(fresh, folder);
  }
  /** @type {any} */
  const programs = { atrium: path.join(folder, 'atrium', 'atrium.cjs') };
  for (const name of Object.keys(ENTRIES)) programs[name] = path.join(folder, `${name}.mjs`);
  for (const name of Object.keys(WHOLE_ENTRIES)) programs[name] = path.join(folder, 'whole', `${name}.mjs`);
  return programs;
}

/** By names, times and sizes: reading every file would take as long as building. */
function fingerprint() {
  const hash = createHash('sha256');
  for (const script of ['test-programs.mjs', 'bundle.mjs'])
    hash.update(readFileSync(path.join(ROOT, 'scripts', script)));
  for (const folder of SOURCES) {
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
      if (!/\.(ts|mjs)$/.test(name) || name.endsWith('.test.ts')) continue;
      const { mtimeMs, size } = statSync(path.join(folder, name));
      hash.update(`${folder}/${name} ${mtimeMs} ${size}\n`);
    }
  }
  return hash.digest('hex').slice(0, 16);
}

/** Another run may have built the same at the same time. @param {string} fresh @param {string} folder */
function moveInto(fresh, folder) {
  try {
    renameSync(fresh, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
    rmSync(fresh, { recursive: true, force: true });
  }
}

function removeOld() {
  for (const name of readdirSync(CACHE)) {
    const folder = path.join(CACHE, name);
    if (statSync(folder).mtimeMs < Date.now() - KEEP_MS) rmSync(folder, { recursive: true, force: true });
  }
}
