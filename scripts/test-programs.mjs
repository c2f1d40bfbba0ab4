/**
 * The programs that tests start as processes of their own: each is bundled into one file with what it imports, once per
 * change of the sources. A bundle starts in a third of the time that the many files of `dist` take (and in a sixth of
 * `node --import tsx`), and it is never older than the sources. Vitest runs `setup` before the first test, also when
 * only one file is tested.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'vite';
import { ROOT } from './process.mjs';

/** Name → source. A test finds the bundle with `inject('programs')`. */
const ENTRIES = {
  atrium: 'packages/cli/src/main.ts',
  'crash-host': 'packages/host/test/support/crash-host.ts',
  'automation-host': 'packages/host/test/support/automation-host.ts',
  'hostile-host': 'packages/host/test/gateway/hostile/support/host-entry.ts',
  'log-appender': 'packages/host/test/support/log-appender.ts',
  'log-opener': 'packages/host/test/support/log-opener.ts',
  'copilot-child': 'packages/host/test/support/copilot-child.ts',
  host: 'packages/host/src/index.ts',
};

/** What the bundles are made of; the page is found by its package at run time. */
const PACKAGES = readdirSync(path.join(ROOT, 'packages')).filter((name) => name !== 'web');
const SOURCES = [...PACKAGES.map((name) => `${name}/src`), 'host/test'].map((folder) =>
  path.join(ROOT, 'packages', folder),
);
const CACHE = path.join(ROOT, 'node_modules', '.cache', 'atrium', 'programs');
/** Other runs in the same clone may still use an older bundle; after this time none does. */
const KEEP_MS = 60 * 60 * 1_000;

/** Packages with native code, or found at run time: they stay outside. */
const EXTERNAL = [
  ...['libsql', '@lydell/node-pty', '@modelcontextprotocol/sdk', 'ai'],
  ...['@ai-sdk/anthropic', '@ai-sdk/openai', '@ai-sdk/openai-compatible'],
  ...['@agentclientprotocol/sdk', '@anthropic-ai/claude-agent-sdk', '@github/copilot-sdk'],
];

/** @typedef {Readonly<Record<keyof typeof ENTRIES, string>>} TestPrograms the path of each bundle */

/** Vitest's global setup. @param {{ provide(key: 'programs', value: TestPrograms): void }} project */
export async function setup(project) {
  project.provide('programs', await ensurePrograms());
}

/** Builds the programs unless those at hand are made of the same sources. @returns {Promise<TestPrograms>} */
export async function ensurePrograms() {
  const folder = path.join(CACHE, fingerprint());
  if (!existsSync(folder)) {
    mkdirSync(CACHE, { recursive: true });
    removeOld();
    const fresh = mkdtempSync(path.join(CACHE, 'fresh-'));
    await bundle(fresh);
    moveInto(fresh, folder);
  }
  /** @type {any} */
  const programs = {};
  for (const name of Object.keys(ENTRIES)) programs[name] = path.join(folder, `${name}.mjs`);
  return programs;
}

/** By names, times and sizes: reading every file would take as long as building. */
function fingerprint() {
  const hash = createHash('sha256').update(readFileSync(import.meta.filename));
  for (const folder of SOURCES) {
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
      if (!name.endsWith('.ts') || name.endsWith('.test.ts')) continue;
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

/** @param {string} outDir */
async function bundle(outDir) {
  await build({
    configFile: false,
    root: ROOT,
    logLevel: 'error',
    plugins: [fromSources(), placesOfCli()],
    ssr: { noExternal: true, external: EXTERNAL },
    build: {
      ssr: true,
      outDir,
      emptyOutDir: false,
      minify: false,
      target: 'node20',
      rolldownOptions: {
        input: Object.fromEntries(Object.entries(ENTRIES).map(([name, file]) => [name, path.join(ROOT, file)])),
        output: { entryFileNames: '[name].mjs', chunkFileNames: 'chunks/[name]-[hash].mjs' },
      },
    },
  });
}

/** Takes the packages of this repository from their sources instead of `dist`. @returns {import('vite').Plugin} */
function fromSources() {
  return {
    name: 'atrium-sources',
    enforce: 'pre',
    resolveId(id) {
      const [, name = '', rest = ''] = /^@atrium\/([\w-]+)(\/.*)?$/.exec(id) ?? [];
      if (!PACKAGES.includes(name)) return null;
      const folder = path.join(ROOT, 'packages', name);
      const { exports } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
      const file = exports[`.${rest}`]?.default ?? `./dist${rest}`;
      return path.join(folder, file.replace('./dist/', 'src/').replace(/\.js$/, '.ts'));
    },
  };
}

/** The command looks for its manifest and for itself beside its own file, and a bundle lies elsewhere. @returns {import('vite').Plugin} */
function placesOfCli() {
  const places = [
    {
      pattern: /new URL\('[./]+\/package\.json', import\.meta\.url\)/,
      to: path.join(ROOT, 'packages/cli/package.json'),
    },
    { pattern: /new URL\('[./]+\/bin\/atrium\.js', import\.meta\.url\)/, to: 'atrium.mjs' },
  ];
  const missing = new Set(places);
  return {
    name: 'atrium-cli-places',
    enforce: 'pre',
    transform(code, id) {
      if (!id.startsWith(path.join(ROOT, 'packages', 'cli', 'src'))) return null;
      let changed = code;
      for (const place of places) {
        const { pattern, to } = place;
        if (!pattern.test(code)) continue;
        missing.delete(place);
        const url = path.isAbsolute(to)
          ? `new URL(${JSON.stringify(pathToFileURL(to).href)})`
          : `new URL('../${to}', import.meta.url)`;
        changed = changed.replace(pattern, url);
      }
      return changed === code ? null : { code: changed, map: null };
    },
    buildEnd(error) {
      if (error || missing.size === 0) return;
      this.error(`scripts/test-programs.mjs: no source has ${[...missing].map(({ pattern }) => pattern).join(', ')}`);
    },
  };
}
