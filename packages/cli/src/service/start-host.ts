/**
 * Starts a host in the background, however many want to at once: the folder's lock lets one of them win, and the others
 * find the winner.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { findHost, type RunningHost } from './running-host.js';

/** Opening a large log takes a while on a slow disk. */
export const START_TIMEOUT_MS = 20_000;
const LOOK_EVERY_MS = 50;
const TAIL_BYTES = 2_000;
const COMMAND = fileURLToPath(new URL('../../bin/atrium.js', import.meta.url));

export interface Started extends RunningHost {
  /** Whether this call started it; otherwise it was there already. */
  readonly isNew: boolean;
}

/** `args`: further options of `atrium serve`. */
export async function startHost(dataDir: string, args: readonly string[]): Promise<Started> {
  const present = await findHost(dataDir);
  if (present) return { ...present, isNew: false };
  const logFile = path.join(dataDir, 'host.log');
  const child = launch(dataDir, args, logFile);
  const exited = new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
  const found = await untilFound(dataDir, exited);
  const isNew = found?.instance.pid === child.pid;
  // One that lost the race may still be on its way: it would take the folder as soon as the winner has stopped.
  if (!isNew) child.kill();
  if (!found) throw new Error(`the host did not start: ${await lastWords(logFile)}`);
  child.unref();
  return { ...found, isNew };
}

function launch(dataDir: string, args: readonly string[], logFile: string): ChildProcess {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const log = openSync(logFile, 'a', 0o600);
  const child = spawn(
    process.execPath,
    [COMMAND, 'serve', '--quiet', '--log-level', 'info', '--data-dir', dataDir, ...args],
    {
      detached: true,
      windowsHide: true,
      stdio: ['ignore', log, log],
    },
  );
  closeSync(log);
  return child;
}

/** Another one may have won the race: then ours is gone, and that is fine. */
async function untilFound(dataDir: string, exited: Promise<number>): Promise<RunningHost | undefined> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  let hasExited = false;
  void exited.then(() => {
    hasExited = true;
  });
  for (let looksAfterExit = 0; performance.now() < deadline; ) {
    const found = await findHost(dataDir);
    if (found) return found;
    // The winner of a race may still be opening its port.
    if (hasExited && ++looksAfterExit > START_TIMEOUT_MS / LOOK_EVERY_MS / 4) return undefined;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  return undefined;
}

async function lastWords(file: string): Promise<string> {
  const handle = await open(file, 'r').catch(() => undefined);
  if (!handle) return 'it said nothing';
  try {
    const { size } = await handle.stat();
    const start = Math.max(0, size - TAIL_BYTES);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(TAIL_BYTES), 0, TAIL_BYTES, start);
    const lines = buffer.subarray(0, bytesRead).toString('utf8').trim().split('\n');
    return lines.slice(-3).join('\n') || 'it said nothing';
  } finally {
    await handle.close();
  }
}
