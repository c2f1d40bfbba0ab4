/**
 * `npm run test:agents` and `npm run test:clients`: the tests of all agents, and of clients of others, with their real
 * packages. They are installed beside the others and never saved, because they are large, and not all are free software.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { bold, duration, isHelpAsked, Problem, ROOT, readJson, runMain, runNode, say, tool } from './process.mjs';
import { checkNode, ensureBuilt, ensureInstalled, runNpm } from './setup.mjs';

/**
 * @typedef {{ name: string, version: string, what: string, megabytes: number }} Package
 * @type {readonly Package[]}
 */
const AGENTS = [
  { name: '@anthropic-ai/claude-agent-sdk', version: '0.3.325', what: 'Claude', megabytes: 414 },
  { name: '@github/copilot-sdk', version: '1.0.14', what: 'Copilot', megabytes: 128 },
  { name: '@github/copilot', version: '1.0.102', what: 'an agent that speaks ACP', megabytes: 189 },
];

/** @type {readonly Package[]} */
const CLIENTS = [{ name: '@github/copilot', version: '1.0.102', what: 'the GitHub Copilot CLI', megabytes: 189 }];

const SUITES = {
  agents: {
    packages: AGENTS,
    tests: ['packages/agents/test', 'packages/host/test/agents'],
    about: `Tests every agent against its real package. Nothing is asked of a real model: a server on
this machine plays it, so no key and no account is needed.`,
  },
  clients: {
    packages: CLIENTS,
    tests: ['packages/cli/test/copilot-client', 'packages/cli/test/copilot-host'],
    about: `Attaches clients that others made to our host, as they are. No key and no account is needed:
they watch, answer, approve and stop.`,
  },
};
const suite = process.argv[2] === 'clients' ? 'clients' : 'agents';
const { packages: PACKAGES, tests: TESTS, about } = SUITES[suite];
/** Without the name of a suite, what is there is for vitest. */
const args = process.argv.slice(process.argv[2] === suite ? 3 : 2);

const HELP = `Usage: npm run test:${suite} [-- <vitest arguments>]

${about}

Installs what is missing, without saving it (about ${PACKAGES.reduce((sum, { megabytes }) => sum + megabytes, 0)} MB in all, one minute):
${PACKAGES.map(({ name, version, what }) => `  ${`${name}@^${version}`.padEnd(42)} ${what}`).join('\n')}
The next \`npm ci\` takes them away again. \`npm test\` runs the same tests, and skips those
whose package is not there.

Arguments go to vitest, names of files first:
  npm run test:${suite} -- claude         tests in files whose name begins with "claude"
  npm run test:${suite} -- -t "denies"    tests whose title contains "denies"`;

async function main() {
  if (isHelpAsked()) return console.log(HELP);
  checkNode();
  await ensureInstalled();
  await installAgents();
  await ensureBuilt();
  say(bold(`tests of the ${suite} ...`));
  const { code } = await runNode([tool('vitest'), 'run', ...testArguments(args)], { live: true });
  process.exitCode = code;
}

/** Names of files stand first; without any, all tests of agents are meant. @param {readonly string[]} args */
function testArguments(args) {
  const firstOption = args.findIndex((arg) => arg.startsWith('-'));
  const names = firstOption < 0 ? args : args.slice(0, firstOption);
  const files = names.length === 0 ? TESTS : TESTS.flatMap((folder) => names.map((name) => `${folder}/${name}`));
  return [...files, ...args.slice(names.length)];
}

/** All in one go: npm takes away what was installed without being saved before. */
async function installAgents() {
  const missing = PACKAGES.filter((wanted) => !isThere(wanted));
  if (missing.length === 0) return say('All packages are here.');
  const megabytes = missing.reduce((sum, wanted) => sum + wanted.megabytes, 0);
  say(`Installing ${missing.map(({ name }) => name).join(', ')} (about ${megabytes} MB) ...`);
  const started = performance.now();
  const wanted = PACKAGES.map(({ name, version }) => `${name}@^${version}`);
  const { code } = await runNpm(['install', '--no-save', '--no-audit', '--no-fund', ...wanted]);
  if (code !== 0) {
    throw new Problem(
      `\`npm install\` failed with exit code ${code}; its own message is above. These packages come from the registry:\n` +
        'connect to the network, or point npm at a mirror (`npm config set registry <address>`), and try again.',
    );
  }
  say(`Installed in ${duration(performance.now() - started)}.`);
}

/** Whether a package is installed, in a version that fits. @param {Package} wanted */
function isThere({ name, version }) {
  const file = path.join(ROOT, 'node_modules', name, 'package.json');
  return existsSync(file) && fits(String(readJson(file).version), version);
}

/** As `^` has it: nothing older, and the same first number that is not zero. @param {string} version @param {string} than */
function fits(version, than) {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  const [wantedMajor = 0, wantedMinor = 0, wantedPatch = 0] = than.split('.').map(Number);
  if (major !== wantedMajor) return false;
  if (major === 0) return minor === wantedMinor && patch >= wantedPatch;
  return minor > wantedMinor || (minor === wantedMinor && patch >= wantedPatch);
}

await runMain(main, { hasHelp: true });
