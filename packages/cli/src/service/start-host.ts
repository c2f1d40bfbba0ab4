/**
 * Starts a host in the background. When several processes try at once, the lock of the data folder lets one win, and
 * the others find the winner.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import { dataFolderFrom, makePrivate } from '../data-folder.js';
import { ExitCode, UsageError } from '../exit.js';
import { io, tell } from '../io.js';
import { COMMAND } from '../places.js';
import { findHost, isLeaving, type RunningHost } from './running-host.js';

/** Opening a large log takes a while on a slow disk, and so may the end of the previous host. */
const START_TIMEOUT_MS = 20_000;
/** How long the winner of a race may take to open its port. */
const WINNER_MAX_MS = 5_000;
export const LOOK_EVERY_MS = 50;
const TAIL_BYTES = 2_000;
/** The host has this file in its data folder while it moves stored sessions to the model of its version. */
const UPCAST_FILE = 'atrium.upcast';

interface Started extends RunningHost {
  /** True if this call started the host; false if it ran already. */
  readonly isNew: boolean;
}

/** `args`: further options of `atrium serve`. */
export async function startHost(dataDir: string, args: readonly string[]): Promise<Started> {
  const present = await findHost(dataDir);
  if (present) return { ...present, isNew: false };
  await makePrivate(dataDir);
  const logFile = path.join(dataDir, 'host.log');
  for (const deadline = performance.now() + START_TIMEOUT_MS; ; ) {
    // A host that is about to stop keeps the folder until the end: if ours comes too early, it tries again.
    const wasLeaving = await isLeaving(dataDir);
    const started = await attempt(dataDir, launch(dataDir, args, logFile), wasLeaving ? 0 : WINNER_MAX_MS);
    if (started) return started;
    if (!wasLeaving || performance.now() > deadline)
      throw new Error(`the host did not start: ${await lastWords(logFile)}`);
    while ((await isLeaving(dataDir)) && performance.now() < deadline) await pause();
  }
}

/** Undefined if neither our host nor another one runs in the end. */
async function attempt(dataDir: string, child: ChildProcess, winnerMaxMs: number): Promise<Started | undefined> {
  const exited = new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
  const found = await untilFound(dataDir, exited, winnerMaxMs);
  const isNew = found?.instance.pid === child.pid;
  // A host that lost the race may still wait: it would take the folder as soon as the winner stops.
  if (!isNew) child.kill();
  if (!found) return undefined;
  child.unref();
  return { ...found, isNew };
}

function launch(dataDir: string, args: readonly string[], logFile: string): ChildProcess {
  const log = openSync(logFile, 'a', 0o600);
  const child = spawn(
    process.execPath,
    [COMMAND, 'serve', '--quiet', '--log-level', 'info', '--data-dir', dataDir, ...args],
    {
      env: io().env,
      detached: true,
      windowsHide: true,
      stdio: ['ignore', log, log],
    },
  );
  closeSync(log);
  return child;
}

/** Waits until a host answers. Another one may have won the race; then ours has ended, which is fine. */
async function untilFound(
  dataDir: string,
  exited: Promise<number>,
  winnerMaxMs: number,
): Promise<RunningHost | undefined> {
  let deadline = performance.now() + START_TIMEOUT_MS;
  let exitCode: number | undefined;
  let isToldOfMove = false;
  void exited.then((code) => {
    exitCode = code;
  });
  for (let looksAfterExit = 0; performance.now() < deadline; ) {
    const found = await findHost(dataDir);
    if (found) return found;
    // The winner of a race may still be opening its port. A process that ended without losing one has failed: no wait.
    const looksMax = exitCode === ExitCode.Taken ? winnerMaxMs / LOOK_EVERY_MS : 1;
    if (exitCode !== undefined && ++looksAfterExit > looksMax) return undefined;
    if (exitCode === undefined && existsSync(path.join(dataDir, UPCAST_FILE))) {
      deadline = performance.now() + START_TIMEOUT_MS;
      if (!isToldOfMove) tell('The host moves the stored sessions to its version. This is done once.');
      isToldOfMove = true;
    }
    await pause();
  }
  return undefined;
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
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

/** Options that the background host gets in another form, or not at all. */
const OWN_OPTIONS = new Set(['detach', 'dataDir', 'quiet']);

export async function detach(command: Command): Promise<void> {
  const options = command.opts<{ dataDir?: string; stdio?: boolean; quiet?: boolean }>();
  if (options.stdio) throw new UsageError('--detach and --stdio cannot be used together');
  const dataDir = dataFolderFrom(options.dataDir, io().env);
  const { instance, isNew } = await startHost(dataDir, optionsOf(command));
  if (options.quiet) io().stdout.write(`READY:${instance.port}\n`);
  else
    io().stdout.write(
      `${isNew ? 'Atrium is running' : 'Atrium was running already'}: ${instance.url} (process ${instance.pid})\n`,
    );
}

/** The options of the command line, for another process, which inherits the environment. */
export function optionsOf(command: Command): string[] {
  return command.options.flatMap((option) => {
    const name = option.attributeName();
    if (OWN_OPTIONS.has(name) || command.getOptionValueSource(name) !== 'cli') return [];
    const value: unknown = command.getOptionValue(name);
    if (typeof value === 'boolean') return value === option.negate ? [] : [option.long ?? ''];
    const values = Array.isArray(value) ? value : [value];
    return values.flatMap((each) => [option.long ?? '', String(each)]);
  });
}
