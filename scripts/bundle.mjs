/**
 * Bundles programs of this repository from their sources. There are two forms. `bundlePrograms` makes modules that tests run
 * and import. `bundleCommand` makes the `atrium` command as it is shipped: a folder of CommonJS files which
 * `packages/cli/src/bundled` loads when they are first needed, with all packages inside except native ones and agents.
 */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build, parseAst } from 'vite';
import { ROOT, readJson } from './process.mjs';

/** The page is a bundle of its own. */
export const PACKAGES = readdirSync(path.join(ROOT, 'packages')).filter((name) => name !== 'web');

/** Packages with native code. */
export const NATIVE = ['libsql', '@lydell/node-pty'];
/** Packages that users install beside Atrium if they want to. */
export const OPTIONAL = ['@agentclientprotocol/sdk', '@anthropic-ai/claude-agent-sdk', '@github/copilot-sdk'];
/** Large packages that tests often replace or never load. */
const LARGE = ['@modelcontextprotocol/sdk', '@ai-sdk/anthropic', '@ai-sdk/openai'];

/** @typedef {import('vite').Plugin} Plugin */
/** @typedef {import('vite').Rolldown.OutputChunk} OutputChunk */

/**
 * Modules for Node, one for each entry, and what several of them share.
 * @param {{ entries: Record<string, string>, outDir: string, isWhole?: boolean }} options names and paths from the root of
 *   the repository; `isWhole`: large packages are inside, too
 */
export async function bundlePrograms({ entries, outDir, isWhole = false }) {
  const external = [...NATIVE, ...OPTIONAL, ...(isWhole ? [] : LARGE)];
  const output = { entryFileNames: '[name].mjs', chunkFileNames: 'chunks/[name]-[hash].mjs' };
  write(outDir, await chunksOf({ entries, external, plugins: [fromSources()], output }));
}

/**
 * The command: `atrium.cjs` starts it, `command.cjs` and further files are loaded by that one.
 * @param {{ outDir: string, command: string, page: string }} options `command`: what starts it in another process; `page`: the
 *   folder of the page; both as seen from `outDir`, or absolute
 * @returns {Promise<string[]>} the files of packages that are in the bundle
 */
export async function bundleCommand({ outDir, command, page }) {
  const external = [...NATIVE, ...OPTIONAL];
  const plugins = [
    fromSources(),
    replaced(PLACES, placesOf({ command, page })),
    ...packagesAsChunks(external),
    validatorsAsChunks(),
    importsByLoader(),
  ];
  const chunks = await chunksOf({
    ...{ entries: { command: 'packages/cli/src/main.ts' }, external, plugins },
    output: { format: 'cjs', entryFileNames: '[name].cjs', chunkFileNames: '[name]-[hash].cjs' },
  });
  const [start] = await chunksOf({
    ...{ entries: { atrium: 'packages/cli/src/bundled/atrium.ts' }, external: [], plugins: [] },
    output: { format: 'cjs', entryFileNames: '[name].cjs', banner: '#!/usr/bin/env node' },
  });
  if (!start) throw new Error('the bundle has no start');
  write(outDir, [start, ...chunks.map((chunk) => ({ ...chunk, code: asFunction(chunk.code) }))]);
  return chunks.flatMap(({ moduleIds }) => moduleIds).filter((file) => file.includes('/node_modules/'));
}

/** The files of packages that are in the page. Building it is the only way to know. @returns {Promise<string[]>} */
export async function modulesOfPage() {
  const root = path.join(ROOT, 'packages', 'web');
  const configFile = path.join(root, 'vite.config.ts');
  const result = await build({ root, configFile, logLevel: 'error', build: { write: false, minify: false } });
  if (!('output' in result)) throw new Error('the bundler did not make one bundle');
  const chunks = result.output.filter((file) => file.type === 'chunk');
  return chunks.flatMap(({ moduleIds }) => moduleIds).filter((file) => file.includes('/node_modules/'));
}

/**
 * @param {{ entries: Record<string, string>, external: string[], plugins: Plugin[],
 *   output: import('vite').Rolldown.OutputOptions }} options
 * @returns {Promise<OutputChunk[]>}
 */
async function chunksOf({ entries, external, plugins, output }) {
  const input = Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, path.join(ROOT, file)]));
  const result = await build({
    ...{ configFile: false, root: ROOT, logLevel: 'error', plugins },
    // `ws` would look for these packages at every start.
    define: { 'process.env.WS_NO_BUFFER_UTIL': '"1"', 'process.env.WS_NO_UTF_8_VALIDATE': '"1"' },
    ssr: { noExternal: true, external },
    build: { ssr: true, write: false, minify: false, target: 'node20', rolldownOptions: { input, output } },
  });
  if (!('output' in result)) throw new Error('the bundler did not make one bundle');
  return result.output.filter((file) => file.type === 'chunk');
}

/** @param {string} outDir @param {readonly OutputChunk[]} chunks */
function write(outDir, chunks) {
  for (const { fileName, code, isEntry } of chunks) {
    const file = path.join(outDir, fileName);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, fileName.endsWith('.cjs') ? inAscii(code, fileName) : code, { mode: isEntry ? 0o755 : 0o644 });
  }
}

/** What `packages/cli/src/bundled/chunks.ts` calls. It begins on the first line, so that all lines keep their numbers. @param {string} code */
function asFunction(code) {
  return `(function (exports, require, module, __filename, __dirname, importPackage) {${code}\n})`;
}

/** Node keeps a text in ASCII in half of the memory, and reads it without decoding. @param {string} code @param {string} name */
function inAscii(code, name) {
  // An escape means the same as the character, except in the raw text of a template.
  if (/String\.raw`[^`]*[^\0-\x7f]/.test(code)) throw new Error(`${name}: a raw template is not in ASCII`);
  return code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Takes the packages of this repository from their sources instead of `dist`. @returns {Plugin} */
function fromSources() {
  return {
    name: 'atrium-sources',
    enforce: 'pre',
    resolveId(id) {
      const [, name = '', rest = ''] = /^@atrium\/([\w-]+)(\/.*)?$/.exec(id) ?? [];
      if (!PACKAGES.includes(name)) return null;
      const folder = path.join(ROOT, 'packages', name);
      const { exports } = readJson(path.join(folder, 'package.json'));
      const file = exports[`.${rest}`]?.default ?? `./dist${rest}`;
      return path.join(folder, file.replace('./dist/', 'src/').replace(/\.js$/, '.ts'));
    },
  };
}

const PLACES = path.join(ROOT, 'packages/cli/src/places.ts');
const PACKAGE_ON_USE = path.join(ROOT, 'packages/core/src/util/package-on-use.ts');

/** @param {string} file @param {string} code @returns {Plugin} */
function replaced(file, code) {
  let isUsed = false;
  return {
    name: 'atrium-replaced',
    enforce: 'pre',
    load(id) {
      if (path.normalize(id) !== file) return null;
      isUsed = true;
      return code;
    },
    buildEnd(error) {
      if (!error && !isUsed) this.error(`scripts/bundle.mjs: no source imports ${path.relative(ROOT, file)} any more`);
    },
  };
}

/** What stands in `places.ts` of the bundle. All its files lie in one folder. @param {{ command: string, page: string }} places */
function placesOf({ command, page }) {
  const { version } = readJson(path.join(ROOT, 'packages', 'cli', 'package.json'));
  return `import path from 'node:path';
    export const COMMAND = path.resolve(import.meta.dirname, ${JSON.stringify(command)});
    export const version = () => ${JSON.stringify(version)};
    export const pageFolder = () => path.resolve(import.meta.dirname, ${JSON.stringify(page)});`;
}

/**
 * Gives each package that is loaded with `packageOnUse` a file of its own, to be required when it is first used.
 * @param {readonly string[]} external @returns {Plugin[]}
 */
function packagesAsChunks(external) {
  const call = /(packageOnUse(?:<[^(]*>)?\()'([^']+)'/g;
  return [
    replaced(PACKAGE_ON_USE, 'export const packageOnUse = (name) => () => require(name);'),
    {
      name: 'atrium-packages-on-use',
      enforce: 'pre',
      transform(code, id) {
        if (!id.endsWith('.ts') || !code.includes('packageOnUse')) return null;
        const changed = code.replace(call, (whole, before, name) => {
          if (external.includes(name)) return whole;
          const fileName = `package-${name}.cjs`;
          this.emitFile({ type: 'chunk', id: name, importer: id, fileName });
          return `${before}'./${fileName}'`;
        });
        return { code: changed, map: null };
      },
    },
  ];
}

/**
 * Gives the validators of each protocol a file of its own, loaded with the first message that they check: a third of what a host
 * would read at its start, and most starts of the command check nothing. They must be used inside functions only.
 * @returns {Plugin}
 */
function validatorsAsChunks() {
  const imported = /^import \* as (\w+) from '(\.\.\/\.\.\/generated\/(ahp|ahp-1|provider)\.js)';$/gm;
  return {
    name: 'atrium-validators-on-use',
    enforce: 'pre',
    transform(code, id) {
      if (!id.endsWith('.ts') || !code.includes('/generated/')) return null;
      const used = [...code.matchAll(imported)];
      let changed = code.replace(imported, '');
      for (const [, name = '', file = '', base = ''] of used) {
        const fileName = `validators-${base}.cjs`;
        this.emitFile({ type: 'chunk', id: path.join(path.dirname(id), file), fileName });
        changed = changed.replaceAll(`${name}.`, `${name}().`);
        changed += `\nlet loaded_${name}; const ${name} = ((from) => () => (loaded_${name} ??= require(from)))('./${fileName}');`;
      }
      return { code: changed, map: null };
    },
  };
}

/** A script from the code cache cannot import: the loader does it. @returns {Plugin} */
function importsByLoader() {
  return {
    name: 'atrium-imports',
    renderChunk(code) {
      if (!/\bimport\s*\(/.test(code)) return null;
      const starts = importsIn(parseAst(code));
      let changed = code;
      for (const start of starts.sort((a, b) => b - a))
        changed = `${changed.slice(0, start)}importPackage${changed.slice(start + 'import'.length)}`;
      return { code: changed, map: null };
    },
  };
}

/** Where each `import(…)` begins. @param {unknown} node @returns {number[]} */
function importsIn(node) {
  if (typeof node !== 'object' || node === null) return [];
  const within = Object.values(node).flatMap(importsIn);
  return 'type' in node && node.type === 'ImportExpression' && 'start' in node
    ? [Number(node.start), ...within]
    : within;
}
