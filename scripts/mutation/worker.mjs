/** Starts Vitest with the runner of `runner.mjs`, which does what a plan says and reports in lines of JSON. */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT, tool } from '../process.mjs';
import { slowdown } from './load.mjs';

/** On an idle machine, a worker that reports nothing for this long hangs in its mutant. */
const HANGS_AFTER_MS = 90_000;
/** Of this run; another may be under way. */
export const CACHE = path.join(ROOT, 'node_modules', '.cache', 'atrium', `mutation-${process.pid}`);

/**
 * A mutant, a test file, and the tests in it that reach the mutant, with the milliseconds that each takes on an idle machine.
 * @typedef {{ mutant: string, file: string, tests: Record<string, number> }} Entry
 * `control`: the worker is shared, and a test that fails runs again without the mutant.
 * @typedef {{ root: string, output: string, sources: Record<string, string>, files: readonly string[], entries?: Record<string, Entry>, control?: boolean }} Plan
 */

/**
 * @param {{ sources: Record<string, string>, files?: readonly string[], entries?: readonly Entry[], control?: boolean, lane?: string }} what
 * @returns {Promise<{ lines: any[], output: string }>} what the runner reported, and what Vitest printed
 */
export async function vitest({ sources, files, entries, control = false, lane = 'reach' }) {
  const folder = path.join(CACHE, lane);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const named = entries?.map((entry, index) => /** @type {const} */ ([String(index).padStart(6, '0'), entry]));
  for (const [name] of named ?? []) writeFileSync(path.join(folder, `${name}.test.ts`), '');
  const output = path.join(CACHE, `${lane}.jsonl`);
  writeFileSync(output, '');
  /** @type {Plan} */
  const plan = {
    ...{ root: ROOT, output, sources, control },
    files: files?.map((file) => path.join(ROOT, file)) ?? [`${folder}/*.test.ts`],
    ...(named && { entries: Object.fromEntries(named) }),
  };
  const planFile = path.join(CACHE, `${lane}.json`);
  writeFileSync(planFile, JSON.stringify(plan));
  const config = path.join(import.meta.dirname, 'vitest.config.ts');
  const child = spawn(process.execPath, [tool('vitest'), 'run', '--config', config, '--root', ROOT], {
    cwd: ROOT,
    env: { ...process.env, ATRIUM_MUTATION_PLAN: planFile, ATRIUM_DAMAGES: '10' },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A worker in an endless loop does not end with Vitest; it ends with the group of its processes.
    detached: true,
  });
  const end = () => {
    try {
      process.kill(-(child.pid ?? 0), 'SIGKILL');
    } catch {
      // All have ended.
    }
  };
  // Before the folder is removed that it writes to.
  process.prependOnceListener('exit', end);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (chunk) => (text += chunk));
  const started = Date.now();
  const watch = setInterval(() => {
    if (Date.now() - Math.max(started, statSync(output).mtimeMs) > HANGS_AFTER_MS * slowdown()) end();
  }, 1_000);
  await new Promise((resolve, reject) => child.on('close', resolve).on('error', reject));
  clearInterval(watch);
  process.off('exit', end);
  const lines = readFileSync(output, 'utf8').split('\n').filter(Boolean);
  return { lines: lines.map((line) => JSON.parse(line)), output: text };
}
