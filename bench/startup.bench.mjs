/**
 * How much a start costs: CPU and memory of the process from its start to READY, against Node with a bare `ws` server;
 * and the same a second later, so that work that is only put off shows. The floor is the bare server that also reads the
 * compiled code of the command, and runs none of it.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { absolute, built, figure, paired, ratio, report } from './measure.mjs';
import { usageOf } from './support/process-usage.mjs';

const SETTLED_MS = 1_000;
const MEGABYTE = 2 ** 20;

const { startup } = await paired(import.meta.url, {
  startup: { atrium: { atrium: () => ({ slice: atrium }) }, limits: { bare: () => ({ slice: bare }), floor } },
});

const limit = 'node with a bare ws server';
const grown = (name) => startup[name].map(({ rss }, round) => (rss - startup.bare[round].rss) / MEGABYTE);
const other = startup['atrium of the other build'];
report([
  ratio(startup, { name: 'startup.cpu', of: 'atrium', to: 'bare', limit, target: { atMost: 1.5 }, worse: 'modules' }),
  ratio(startup, { name: 'startup.floor', of: 'floor', to: 'bare', limit, worse: 'code' }),
  ratio(startup, {
    name: 'startup.cpu.loaded',
    of: 'atrium',
    to: 'floor',
    limit: 'its floor',
    target: { atMost: 1.5 },
    worse: 'modules',
  }),
  figure({
    name: 'startup.rss',
    samples: grown('atrium'),
    ...(other && {
      others: grown('atrium of the other build'),
      changes: startup.atrium.map(({ rss }, round) => rss / other[round].rss),
    }),
    unit: 'MB more',
    limit,
    target: { atMost: 25 },
    worse: 'modules',
  }),
  ratio(startup, { name: 'startup.wall', of: 'atrium', to: 'bare', member: 'milliseconds', limit, worse: 'load' }),
  ratio(startup, {
    name: 'startup.settled',
    of: 'atrium',
    to: 'bare',
    member: 'settledCpu',
    limit: `${limit}, CPU one second after READY`,
    worse: 'preloading',
  }),
  absolute(startup, {
    name: 'startup.ms',
    of: 'atrium',
    pick: ({ milliseconds }) => milliseconds,
    unit: 'ms',
    worse: 'load',
  }),
]);

async function atrium() {
  const dataDir = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
  const ports = ['--port', '0', '--gateway-port', '0'];
  const usage = await untilReady([built('cli/bin/atrium.js'), 'serve', '--quiet', ...ports, '--data-dir', dataDir]);
  rmSync(dataDir, { recursive: true, force: true });
  return usage;
}

async function floor() {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
  const env = { ...process.env, ATRIUM_BENCH_CODE: join(folder, 'code'), ATRIUM_CODE_CACHE: 'off' };
  const args = ['serve', '--quiet', '--port', '0', '--gateway-port', '0', '--data-dir', join(folder, 'data')];
  const preload = ['--require', fileURLToPath(new URL('./support/start-code.cjs', import.meta.url))];
  const child = spawn(process.execPath, [...preload, built('cli/bin/atrium.js'), ...args], { env, stdio: 'ignore' });
  await new Promise((resolve) => child.once('exit', resolve));
  const program = fileURLToPath(new URL('./support/start-floor.mjs', import.meta.url));
  return { slice: () => untilReady([program], env), close: () => rmSync(folder, { recursive: true }) };
}

function bare() {
  return untilReady([fileURLToPath(new URL('./support/bare-server.mjs', import.meta.url))]);
}

async function untilReady(args, env = process.env) {
  const start = performance.now();
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const gone = exited.then((code) => Promise.reject(new Error(`exit ${code} before READY`)));
  gone.catch(() => {});
  await Promise.race([ready(child), gone]);
  const milliseconds = performance.now() - start;
  const { cpu, rss } = await usageOf(child.pid);
  await new Promise((resolve) => setTimeout(resolve, SETTLED_MS));
  const settled = await usageOf(child.pid);
  child.kill('SIGTERM');
  await exited;
  return { operations: 1, cpu, rss, milliseconds, settledCpu: settled.cpu };
}

function ready(child) {
  return new Promise((resolve) => {
    child.stdout.on('data', (data) => String(data).includes('READY:') && resolve());
  });
}
