/**
 * `npm run test:nodes`: the tests of log, wire, crashes and command on every Node that we promise. The binaries come from
 * npm's packages of Node and are kept in the cache of this clone; nothing of the machine changes.
 */
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { bold, duration, green, Problem, ROOT, red, run, runMain, say, tool } from './process.mjs';
import { checkNode, ensureBuilt, ensureInstalled, runNpm } from './setup.mjs';

const MAJORS = ['20', '22', '24'];
const TESTS = [
  ...['log', 'wire', 'crash'].map((name) => `packages/host/test/${name}/`),
  ...['log', 'channels', 'wire'].map((name) => `packages/core/test/${name}/`),
  'packages/cli/test/',
];
const CACHE = path.join(ROOT, 'node_modules', '.cache', 'atrium', 'nodes');

const HELP = `Usage: npm run test:nodes [-- --node <versions>] [-- <vitest arguments>]

Runs the tests of log, wire, crashes and command on Node ${MAJORS.join(', ')} (newest of each), one after the other.
Installs what is missing into node_modules/.cache (about 100 MB each). Node 22 and newer store with node:sqlite, older ones with libsql.

  npm run test:nodes -- --node 22,24                 only these
  npm run test:nodes -- packages/host/test/log/      only tests in such a path`;

/** @typedef {{ version: string, ok: boolean, ms: number }} Row */

async function main() {
  const { values, positionals } = parseArgs({
    options: { help: { type: 'boolean', short: 'h' }, node: { type: 'string' } },
    allowPositionals: true,
  });
  if (values.help) return console.log(HELP);
  const majors = (values.node ?? MAJORS.join(',')).split(',').map((text) => text.trim());
  const strange = majors.find((text) => !/^\d{2,3}$/.test(text));
  if (strange !== undefined) throw new Problem(`--node: "${strange}" is no version. Write --node 22,24`);
  checkNode();
  await ensureInstalled();
  await ensureBuilt();
  /** @type {Row[]} */
  const rows = [];
  for (const major of majors) rows.push(await testOn(major, positionals.length > 0 ? positionals : TESTS));
  for (const { version, ok, ms } of rows)
    console.log(`  Node ${version.padEnd(9)}  ${ok ? green('passed') : red('FAILED')}  ${duration(ms)}`);
  process.exitCode = rows.every(({ ok }) => ok) ? 0 : 1;
}

/** @param {string} major @param {readonly string[]} tests @returns {Promise<Row>} */
async function testOn(major, tests) {
  const node = await ensureNode(major);
  const { output } = await run(node, ['--version'], {});
  const version = output.trim().replace(/^v/, '');
  console.log(`\n${bold(`Node ${version}`)}`);
  const started = performance.now();
  // Tests start programs with the Node that runs them; what looks for `node` finds the same one.
  const env = { PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH ?? ''}` };
  const { code } = await run(node, [tool('vitest'), 'run', ...tests], { live: true, env });
  return { version, ok: code === 0, ms: performance.now() - started };
}

/** The binary of this version, the one that runs now included: what is tested should not depend on the machine. @param {string} major */
async function ensureNode(major) {
  const system = process.platform === 'win32' ? 'win' : process.platform;
  const name = `node-${system}-${process.arch}`;
  const folder = path.join(CACHE, major);
  const binary = path.join(folder, 'node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (existsSync(binary)) return binary;
  mkdirSync(folder, { recursive: true });
  say(`Installing Node ${major} ...`);
  const { code } = await runNpm(['install', '--prefix', folder, '--no-audit', '--no-fund', `${name}@${major}`]);
  if (code === 0 && existsSync(binary)) return binary;
  throw new Problem(
    `Node ${major} could not be installed: ${name}@${major} comes from the registry, see npm's words above`,
  );
}

await runMain(main, { hasHelp: true });
