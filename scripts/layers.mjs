/**
 * Which part of the repository may import which. The rules are the table below; `npm test` runs them over every source
 * file. Tests and configuration files ship with nothing, so they may import what they like.
 */
import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { green, ROOT, red, runMain } from './process.mjs';

/**
 * A rule reads: a file within `within` (but not in `except`) must not import `forbidden`. What an import means is written as
 * in `target`: a path from the root of the repository for relative imports, `node:x` for Node's own modules, and the
 * specifier itself for packages.
 * @typedef {{ name: string, within: RegExp, except?: RegExp, forbidden: RegExp, why: string }} Rule
 * @type {readonly Rule[]}
 */
export const RULES = [
  {
    name: 'protocol-stands-alone',
    within: /^packages\/protocol\//,
    forbidden: /^@atrium\//,
    why: 'the protocol package imports nothing of ours',
  },
  {
    name: 'link-stands-alone',
    within: /^packages\/link\//,
    forbidden: /^@atrium\//,
    why: 'the link package imports nothing of ours',
  },
  {
    name: 'client-knows-protocol',
    within: /^packages\/client\//,
    forbidden: /^@atrium\/(?!(protocol|link)(\/|$))/,
    why: 'the client imports only @atrium/protocol and @atrium/link',
  },
  {
    name: 'provider-knows-protocol',
    within: /^packages\/provider\//,
    forbidden: /^@atrium\/(?!(protocol|link)(\/|$))/,
    why: 'the provider SDK imports only @atrium/protocol and @atrium/link',
  },
  {
    name: 'core-knows-protocol',
    within: /^packages\/core\//,
    forbidden: /^@atrium\/(?!(protocol|link)(\/|$))/,
    why: 'the core imports only @atrium/protocol and @atrium/link',
  },
  {
    name: 'agents-know-contracts',
    within: /^packages\/agents\//,
    forbidden: /^@atrium\/(?!(protocol|link)(\/|$)|core\/(contracts|util)\/)/,
    why: 'agents import only the contracts and the helpers of the core, @atrium/protocol and @atrium/link',
  },
  {
    name: 'agents-through-their-index',
    within: /./,
    forbidden: /^@atrium\/agents\//,
    why: 'agents are used through the index of their package',
  },
  {
    name: 'host-knows-core-and-agents',
    within: /^packages\/host\//,
    forbidden: /^@atrium\/(?!(protocol|link|core|agents)(\/|$))/,
    why: 'the host imports only @atrium/core, @atrium/agents, @atrium/protocol and @atrium/link',
  },
  {
    name: 'core-behind-the-host',
    within: /^(packages\/(?!core\/|agents\/|host\/)|examples\/)/,
    forbidden: /^@atrium\/(core|agents)(\/|$)/,
    why: 'programs use the core and the agents through @atrium/host, which promises to keep its exports',
  },
  {
    name: 'web-knows-protocol-and-client',
    within: /^packages\/web\//,
    forbidden: /^@atrium\/(?!(protocol|client)(\/|$))/,
    why: 'the web page imports only @atrium/protocol and @atrium/client',
  },
  {
    name: 'packages-by-name',
    within: /^(packages\/[^/]+|examples)\//,
    forbidden: /^another-package:/,
    why: 'another package is imported by its name, never by a path into its files',
  },
  {
    name: 'versions-at-the-border',
    within: /^packages\/protocol\/src\//,
    except: /^packages\/protocol\/src\/(versions\/|dialects\/|(ahp-1\/)?index\.ts$)/,
    forbidden: /^packages\/protocol\/src\/(versions|dialects)\//,
    why: 'only versions/, dialects/ and the index.ts of a model know protocol versions',
  },
  {
    name: 'dialects-at-the-border',
    within: /./,
    except: /^packages\/protocol\/|\/wire\/dialects\/|^packages\/core\/src\/sessions\/upcast\.ts$/,
    forbidden: /^@atrium\/protocol\/dialects(\/|$)/,
    why: 'only a wire/dialects/ folder, and the upcast of stored data, translate between protocol versions',
  },
  {
    name: 'runs-in-a-browser',
    within: /^packages\/(protocol\/src|link\/src|client\/src|provider\/src|web\/src)\//,
    forbidden: /^node:/,
    why: 'this code also runs in a browser, where Node modules do not exist',
  },
];

/**
 * The folders of core, agents and host, from the bottom up, each with the folders that it may import, types included:
 * `core/…` is a folder of `packages/core/src`, `agents` is `packages/agents/src`, and the others are folders of
 * `packages/host/src`. A folder imports only folders that stand above it here, so that there are no cycles. Files directly
 * in the host's `src` put everything together and may import all.
 * @type {Readonly<Record<string, readonly string[]>>}
 */
export const LAYERS = {
  'core/util': [],
  'core/log': ['core/util'],
  'core/contracts': ['core/util', 'core/log'],
  'core/channels': ['core/util', 'core/log', 'core/contracts'],
  'core/prompt': ['core/util', 'core/contracts'],
  'core/permissions': ['core/util'],
  'core/tool-calls': ['core/util', 'core/contracts', 'core/permissions'],
  'core/sessions': [
    ...[
      'core/util',
      'core/log',
      'core/contracts',
      'core/channels',
      'core/prompt',
      'core/permissions',
      'core/tool-calls',
    ],
  ],
  'core/wire': ['core/util', 'core/log', 'core/contracts', 'core/channels', 'core/sessions'],
  core: ['core/util', 'core/log', 'core/channels', 'core/sessions', 'core/wire'],
  // What an older host stored is translated when the log is opened.
  'log-sqlite': ['core/util', 'core/log', 'core/sessions'],
  'log-postgres': ['core/util', 'core/log'],
  agents: ['core/util', 'core/contracts'],
  'workspace/git': ['core/util'],
  'workspace/tools': ['core/util', 'core/contracts', 'workspace/git'],
  'plugins/formats': ['core/util', 'core/contracts'],
  'workspace/files': [
    ...['core/util', 'core/contracts', 'core/channels', 'core/sessions', 'core/wire'],
    ...['workspace/tools', 'plugins/formats'],
  ],
  'workspace/terminals': ['core/util', 'core/contracts', 'core/channels', 'core/sessions', 'core/wire'],
  'workspace/completions': ['core/util', 'core/contracts', 'core/sessions', 'workspace/tools'],
  'workspace/worktrees': ['core/util', 'core/contracts', 'core/sessions', 'workspace/git'],
  blobs: ['core/util', 'core/log', 'core/contracts', 'core/tool-calls', 'core/sessions', 'workspace/files'],
  search: ['core/util', 'core/log', 'core/contracts', 'core/channels', 'core/sessions'],
  config: ['core/util', 'core/tool-calls'],
  'plugins/trust': ['core/util', 'core/contracts', 'core/sessions', 'config', 'plugins/formats'],
  permissions: ['core/util', 'core/contracts', 'core/permissions', 'core/sessions', 'config', 'plugins/trust'],
  'workspace/changes': [
    ...['core/util', 'core/log', 'core/contracts', 'core/channels', 'core/sessions'],
    ...['workspace/git', 'workspace/tools', 'workspace/files', 'blobs', 'plugins/trust'],
  ],
  'workspace/rewind': [
    ...['core/util', 'core/log', 'core/contracts', 'core/channels', 'core/sessions', 'workspace/changes'],
  ],
  'workspace/board': [
    ...['core/util', 'core/contracts', 'core/sessions', 'workspace/git', 'workspace/changes', 'workspace/rewind'],
    'plugins/trust',
  ],
  automations: ['core/util', 'core/log', 'core/contracts', 'core/channels', 'core/sessions', 'workspace/files'],
  imports: ['core/util', 'core/contracts', 'core/sessions', 'core/tool-calls', 'log-sqlite'],
  server: ['core/util', 'core/contracts', 'core/wire'],
  gateway: [
    ...['core/util', 'core/contracts', 'core/channels', 'core/tool-calls', 'core/sessions', 'core/wire'],
    ...['config', 'plugins/trust', 'server'],
  ],
  'plugins/mcp': ['core/util', 'core/contracts', 'plugins/formats'],
  'plugins/customizations': [
    ...['core/util', 'core/contracts', 'core/channels', 'core/sessions', 'config', 'workspace/tools'],
    ...['plugins/formats', 'plugins/trust', 'plugins/mcp'],
  ],
  auth: ['core/util', 'core/contracts', 'core/sessions'],
  devices: ['core/util', 'core/log', 'core/contracts', 'core/channels', 'core/sessions', 'server'],
  telemetry: ['core/util', 'core/contracts', 'core/channels', 'core/sessions', 'core/wire'],
  usage: ['core/util', 'core/log', 'core/contracts', 'core/channels', 'core/sessions'],
  notifications: ['core/util', 'core/log', 'core/contracts', 'core/channels', 'core/sessions', 'server'],
  cluster: ['core/util', 'core/log', 'core/contracts', 'log-sqlite', 'log-postgres', 'server', 'notifications', '.'],
  shares: ['core/util', 'core/contracts', 'core/sessions', 'core/wire'],
  discovery: ['core/util', 'core/contracts', 'config', 'agents'],
  'agent-acceptance': ['core/log', 'core/contracts', 'core/wire', '.'],
};

/**
 * Imports against the table that are known, by folder: each is to be removed, and none may be added.
 * @type {Readonly<Record<string, number>>}
 */
export const KNOWN_EXCEPTIONS = {};

/** The sources of the layered packages, and what stands before the names of their folders in the table. */
const PLACES = /** @type {const} */ ([
  ['packages/core/src/', 'core/'],
  ['packages/agents/src/', 'agents/'],
  ['packages/host/src/', ''],
]);

/** The layer that a source file belongs to: the longest name in the table that its folder starts with. @param {string} file */
export function layerOf(file) {
  const [sources, prefix] = PLACES.find(([start]) => file.startsWith(start)) ?? [];
  if (sources === undefined || prefix === undefined) return undefined;
  const folder = path.posix.dirname(prefix + file.slice(sources.length));
  const isElsewhere = prefix === '' && /^(core|agents)(\/|$)/.test(folder);
  const names = Object.keys(LAYERS).filter((name) => folder === name || folder.startsWith(`${name}/`));
  if (names.length > 0 && !isElsewhere) return names.sort((a, b) => b.length - a.length)[0];
  return folder === '.' ? '.' : undefined;
}

/**
 * The imports of one file that go against the table, as `from -> to`.
 * @param {string} file @param {string} source @returns {{ file: string, specifier: string, step: string }[]}
 */
export function wrongSteps(file, source) {
  const from = layerOf(file);
  if (!PLACES.some(([start]) => file.startsWith(start)) || from === '.') return [];
  return importsOf(source).flatMap((specifier) => {
    const goal = layeredFile(file, specifier);
    if (goal === undefined) return [];
    const to = layerOf(goal) ?? '?';
    const isAllowed = from !== undefined && (to === from || LAYERS[from]?.includes(to));
    return isAllowed ? [] : [{ file, specifier, step: `${from ?? '?'} -> ${to}` }];
  });
}

/** The file that an import within the layers means. @param {string} file @param {string} specifier */
function layeredFile(file, specifier) {
  if (specifier.startsWith('.')) return path.posix.join(path.posix.dirname(file), specifier);
  const [, name, rest = '/index.js'] = /^@atrium\/(core|agents)(\/.*)?$/.exec(specifier) ?? [];
  return name === undefined ? undefined : `packages/${name}/src${rest}`;
}

const UNRULED = /(^|\/)(test|tests)\/|\.test\.[cm]?[jt]sx?$|\.config\.[cm]?[jt]s$/;

/**
 * The imports of one file that break a rule.
 * @param {string} file path from the root of the repository, with forward slashes
 * @param {string} source
 * @returns {{ file: string, specifier: string, rule: Rule }[]}
 */
export function violations(file, source) {
  if (UNRULED.test(file)) return [];
  const rules = RULES.filter((rule) => rule.within.test(file) && !rule.except?.test(file));
  return importsOf(source).flatMap((specifier) =>
    rules.filter((rule) => rule.forbidden.test(target(file, specifier))).map((rule) => ({ file, specifier, rule })),
  );
}

/**
 * Every module that a source names: static, dynamic and type imports, re-exports, `require`.
 * @param {string} source
 * @returns {string[]}
 */
export function importsOf(source) {
  const named = /\b(?:from|import|require)\s*\(?\s*(['"`])([^'"`\n]+)\1/g;
  return [...withoutComments(source).matchAll(named)].map((match) => match[2] ?? '');
}

/** Strings are matched first, so that the `//` in one does not count as a comment. @param {string} source */
function withoutComments(source) {
  const token = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g;
  return source.replace(token, (text) => (text.startsWith('/') ? ' ' : text));
}

/** @param {string} file @param {string} specifier */
function target(file, specifier) {
  if (!specifier.startsWith('.')) return isBuiltin(specifier) ? `node:${specifier.replace(/^node:/, '')}` : specifier;
  const resolved = path.posix.join(path.posix.dirname(file), specifier);
  return packageOf(resolved) === packageOf(file) ? resolved : `another-package:${resolved}`;
}

/** The package that a path belongs to. @param {string} file */
function packageOf(file) {
  return /^packages\/[^/]+|^[^/]+/.exec(file)?.[0];
}

const SKIPPED = new Set(['node_modules', 'dist', 'coverage', 'generated']);

/** All source files in the folders that have rules. @param {string} folder @returns {string[]} */
function sourceFiles(folder) {
  return readdirSync(path.join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const file = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return SKIPPED.has(entry.name) || entry.name.startsWith('.') ? [] : sourceFiles(file);
    return /\.[cm]?[jt]sx?$/.test(entry.name) ? [file] : [];
  });
}

function main() {
  const files = sourceFiles('');
  const sources = files.map((file) => ({ file, source: readFileSync(path.join(ROOT, file), 'utf8') }));
  const broken = sources.flatMap(({ file, source }) => violations(file, source));
  for (const { file, specifier, rule } of broken) {
    console.log(`${red(rule.name)}  ${file} imports '${specifier}': ${rule.why}`);
  }
  const steps = sources.flatMap(({ file, source }) => wrongSteps(file, source));
  const problems = againstTable(steps);
  for (const problem of problems) console.log(`${red('layers')}  ${problem}`);
  const isFine = broken.length + problems.length === 0;
  if (isFine) console.log(green(`Every import of ${files.length} files keeps to its layer.`));
  process.exitCode = isFine ? 0 : 1;
}

/**
 * What is wrong, beside the known exceptions; an exception that is gone, or counts fewer, must leave the list.
 * @param {readonly { file: string, specifier: string, step: string }[]} steps @returns {string[]}
 */
export function againstTable(steps, known = KNOWN_EXCEPTIONS) {
  const names = [...new Set([...steps.map(({ step }) => step), ...Object.keys(known)])].sort();
  return names.flatMap((name) => {
    const found = steps.filter(({ step }) => step === name);
    const expected = known[name] ?? 0;
    if (found.length === expected) return [];
    if (found.length < expected)
      return [`${name}: only ${found.length} left of ${expected} exceptions; correct the list`];
    return found.map(({ file, specifier }) => `${file} imports '${specifier}': ${name} is not in the table`);
  });
}

const startedDirectly = process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url);
if (startedDirectly) await runMain(main);
