/**
 * `npm run test:container`: builds the image of examples/container and tries what its page promises: it refuses to run
 * without a token, runs as an ordinary user, becomes healthy, serves the page, keeps its data, and stops in good order.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { tryOnEmptyMachine, whyNoEmptyMachine } from './empty-machine.mjs';
import { bold, duration, green, Problem, ROOT, runMain, say, yellow } from './process.mjs';

const HELP = `Usage: npm run test:container

Builds the image of examples/container and tries it. Needs a running Docker or Podman, and a network
for the first build. Everything that it makes has the name atrium-test and is removed at the end.

Where neither runs, root on Linux gets an empty machine instead: a folder with Node, npm and a shell, in
which an ordinary user starts the packed package with one line. Needs a registry.`;

const NAME = 'atrium-test';
const TOKEN = 'token-of-the-container-test';
const HEALTHY_WITHIN_MS = 120_000;

async function main() {
  if (process.argv.includes('--help') || process.argv.includes('-h')) return console.log(HELP);
  const engine = ['docker', 'podman'].find((name) => spawnSync(name, ['info'], { stdio: 'ignore' }).status === 0);
  if (engine === undefined) return tryWithoutEngine();
  const folder = mkdtempSync(path.join(tmpdir(), 'atrium-container-'));
  const secret = path.join(folder, 'token');
  writeFileSync(secret, TOKEN);
  // The user of the container is another one than ours.
  chmodSync(folder, 0o755);
  chmodSync(secret, 0o644);
  try {
    await attempt(engine, secret);
  } finally {
    clean(engine);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function tryWithoutEngine() {
  const why = whyNoEmptyMachine();
  if (why === undefined) return tryOnEmptyMachine();
  console.log(`${yellow('skipped:')} neither Docker nor Podman runs here, and there is no empty machine: ${why}`);
}

/** @param {string} engine @param {string} secret */
async function attempt(engine, secret) {
  clean(engine);
  const call = (/** @type {string[]} */ ...args) => output(engine, args);
  await step('builds', () => call('build', '-f', 'examples/container/Dockerfile', '-t', NAME, '.'));
  await step('refuses to run without a token', () => {
    const { status, stderr } = spawnSync(engine, ['run', '--rm', NAME], { encoding: 'utf8', timeout: 60_000 });
    expect(status !== 0 && stderr.includes('token'), `it ended with ${status}: ${stderr}`);
  });
  const mount = `${secret}:/run/secrets/atrium-token:ro`;
  const run = [
    'run',
    '-d',
    '--init',
    '--name',
    NAME,
    '-p',
    '127.0.0.1::9300',
    '-v',
    `${NAME}:/data`,
    '-v',
    mount,
    NAME,
  ];
  await step('becomes healthy', async () => {
    call(...run);
    await until(HEALTHY_WITHIN_MS, () => spawnSync(engine, ['exec', NAME, 'atrium', 'service', 'status']).status === 0);
  });
  await step('runs as an ordinary user', () =>
    expect(call('exec', NAME, 'id', '-u').trim() !== '0', 'it runs as root'),
  );
  await step('serves the page', async () => {
    const port = call('port', NAME, '9300').trim().split('\n')[0]?.split(':').at(-1);
    const answer = await fetch(`http://127.0.0.1:${port}/`);
    expect(answer.ok && (await answer.text()).includes('<title>'), `it answered ${answer.status}`);
  });
  await step('keeps its sessions in the volume', () => {
    call('exec', NAME, 'atrium', 'run', 'hello', '--agent', 'offline');
    call('stop', NAME);
    expect(call('inspect', '-f', '{{.State.ExitCode}}', NAME).trim() === '0', 'it did not end in good order');
    call('rm', NAME);
    call(...run);
  });
  await step('has them in a new container', async () => {
    await until(HEALTHY_WITHIN_MS, () => spawnSync(engine, ['exec', NAME, 'atrium', 'service', 'status']).status === 0);
    const sessions = JSON.parse(call('exec', NAME, 'atrium', 'sessions', 'list', '--json'));
    expect(JSON.stringify(sessions).includes('ahp-session:'), `it has ${JSON.stringify(sessions)}`);
  });
}

/** @param {string} what @param {() => unknown} work */
async function step(what, work) {
  const started = performance.now();
  say(bold(`the container ${what} ...`));
  await work();
  console.log(`${green('ok')} ${what} ${duration(performance.now() - started)}`);
}

/** @param {boolean} holds @param {string} otherwise */
function expect(holds, otherwise) {
  if (!holds) throw new Problem(otherwise);
}

/** @param {string} engine @param {string[]} args */
function output(engine, args) {
  const { status, stdout, stderr } = spawnSync(engine, args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 26 });
  if (status !== 0) throw new Problem(`\`${engine} ${args.join(' ')}\` failed:\n${stderr.slice(-4_000)}`);
  return stdout;
}

/** @param {number} ms @param {() => boolean} holds */
async function until(ms, holds) {
  for (const deadline = performance.now() + ms; !holds(); ) {
    if (performance.now() > deadline) throw new Problem('it took too long');
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** What a run before left behind, or this one. @param {string} engine */
function clean(engine) {
  spawnSync(engine, ['rm', '--force', NAME], { stdio: 'ignore' });
  spawnSync(engine, ['volume', 'rm', '--force', NAME], { stdio: 'ignore' });
}

await runMain(main, { hasHelp: true });
