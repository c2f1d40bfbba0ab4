/**
 * Which part of the repository may import which. The rules are the table below; `npm test` runs them over every source
 * file. Tests and configuration files ship with nothing, so they may import what they like.
 */
import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { green, ROOT, red } from './process.mjs';

/**
 * A rule reads: a file in `room` (but not in `except`) must not import `forbidden`. What an import means is written as
 * in `target`: a path from the root of the repository for relative imports, `node:x` for Node's own modules, and the
 * specifier itself for packages.
 * @typedef {{ name: string, room: RegExp, except?: RegExp, forbidden: RegExp, why: string }} Rule
 * @type {readonly Rule[]}
 */
export const RULES = [
  {
    name: 'protocol-stands-alone',
    room: /^packages\/protocol\//,
    forbidden: /^@atrium\//,
    why: 'the protocol package imports nothing of ours',
  },
  {
    name: 'link-stands-alone',
    room: /^packages\/link\//,
    forbidden: /^@atrium\//,
    why: 'the link package imports nothing of ours',
  },
  {
    name: 'client-knows-protocol',
    room: /^packages\/client\//,
    forbidden: /^@atrium\/(?!(protocol|link)(\/|$))/,
    why: 'the client imports only @atrium/protocol and @atrium/link',
  },
  {
    name: 'provider-knows-protocol',
    room: /^packages\/provider\//,
    forbidden: /^@atrium\/(?!(protocol|link)(\/|$))/,
    why: 'the provider SDK imports only @atrium/protocol and @atrium/link',
  },
  {
    name: 'host-knows-protocol',
    room: /^packages\/host\//,
    forbidden: /^@atrium\/(?!(protocol|link)(\/|$))/,
    why: 'the host imports only @atrium/protocol and @atrium/link',
  },
  {
    name: 'web-knows-protocol-and-client',
    room: /^packages\/web\//,
    forbidden: /^@atrium\/(?!(protocol|client)(\/|$))/,
    why: 'the web page imports only @atrium/protocol and @atrium/client',
  },
  {
    name: 'packages-by-name',
    room: /^(packages\/[^/]+|examples)\//,
    forbidden: /^another-package:/,
    why: 'another package is imported by its name, never by a path into its files',
  },
  {
    name: 'versions-at-the-border',
    room: /^packages\/protocol\/src\//,
    except: /^packages\/protocol\/src\/(versions\/|dialects\/|index\.ts$)/,
    forbidden: /^packages\/protocol\/src\/(versions|dialects)\//,
    why: 'only versions/, dialects/ and index.ts know protocol versions',
  },
  {
    name: 'dialects-at-the-border',
    room: /./,
    except: /^packages\/protocol\/|\/wire\/dialects\//,
    forbidden: /^@atrium\/protocol\/dialects(\/|$)/,
    why: 'only a wire/dialects/ folder translates between protocol versions',
  },
  {
    name: 'agents-know-contracts',
    room: /^packages\/host\/src\/agents\//,
    forbidden: /^packages\/host\/src\/(?!agents\/|core\/contracts\/|core\/util\/)/,
    why: 'agents import only core/contracts and core/util of the host, so that they can become a package of their own',
  },
  {
    name: 'agents-through-their-index',
    room: /^packages\/host\/src\//,
    except: /^packages\/host\/src\/agents\//,
    forbidden: /^packages\/host\/src\/agents\/(?!index\.js$)/,
    why: 'the rest of the host uses agents through agents/index.ts',
  },
  {
    name: 'tool-calls-and-prompt-below-sessions',
    room: /^packages\/host\/src\/core\/(tool-calls|prompt)\//,
    forbidden: /^packages\/host\/src\/(?!core\/(tool-calls|prompt|contracts|util)\/)/,
    why: 'tool calls and the prompt know their session through ports, which core/sessions implements',
  },
  {
    name: 'runs-in-a-browser',
    room: /^packages\/(protocol\/src|link\/src|client\/src|provider\/src|web\/src)\//,
    forbidden: /^node:/,
    why: 'this code also runs in a browser, where Node modules do not exist',
  },
];

const UNRULED = /(^|\/)(test|tests)\/|\.test\.[cm]?[jt]sx?$|\.config\.[cm]?[jt]s$/;

/**
 * The imports of one file that break a rule.
 * @param {string} file path from the root of the repository, with forward slashes
 * @param {string} source
 * @returns {{ file: string, specifier: string, rule: Rule }[]}
 */
export function violations(file, source) {
  if (UNRULED.test(file)) return [];
  const rules = RULES.filter((rule) => rule.room.test(file) && !rule.except?.test(file));
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
  return roomOf(resolved) === roomOf(file) ? resolved : `another-package:${resolved}`;
}

/** The package that a path belongs to. @param {string} file */
function roomOf(file) {
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
  const found = files.flatMap((file) => violations(file, readFileSync(path.join(ROOT, file), 'utf8')));
  for (const { file, specifier, rule } of found) {
    console.log(`${red(rule.name)}  ${file} imports '${specifier}': ${rule.why}`);
  }
  if (found.length === 0) console.log(green(`Every import of ${files.length} files keeps to its room.`));
  process.exitCode = found.length === 0 ? 0 : 1;
}

const startedDirectly = process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url);
if (startedDirectly) main();
