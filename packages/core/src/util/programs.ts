/**
 * A running program: a process with its input and output, and everything that it starts, which ends as a whole. It runs
 * on this machine, or on that of another host, and looks the same to those who use it.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import os from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { systemClock } from './clock.js';
import { childEnvironment, endGroup, killOnExit } from './processes.js';
import { errorText } from './text.js';
import { succeedsWithin } from './waiting.js';

/** How long a program that has ended may take to report how it ended. */
export const PROGRAM_EXIT_MAX_MS = 1_000;
/** How long to wait for more output after a program has ended: other processes may hold the pipes. */
const LAST_OUTPUT_MAX_MS = 200;

export interface ProgramRequest {
  readonly command: string;
  readonly args: readonly string[];
  /** Absent: a temporary folder of the machine. */
  readonly cwd?: string | undefined;
  /** Folders of this machine that the program has to see where it runs, besides its own. */
  readonly folders?: readonly string[];
  /** Added to the environment of the machine; undefined removes a variable. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface ProgramExit {
  /** Null when a signal ended it, or when it is not known how it ended. */
  readonly code: number | null;
  readonly signal: string | null;
  /** Set when the program was lost together with its machine: what happened, as the end of a sentence. */
  readonly lost?: string | undefined;
}

export interface Program {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when the program has ended. Its output is complete by then, unless other processes hold the pipes. */
  readonly exited: Promise<ProgramExit>;
  /** Asks the whole group to end, and kills what is left after the grace period. Resolves when the group is gone. */
  end(graceMs: number): Promise<void>;
  /** The port on the loopback interface of the program's machine that leads to a port of this one. */
  reach(port: number): Promise<number>;
}

/** A program that could not be started. `code` is that of the system, such as `ENOENT`. */
export class ProgramError extends Error {
  override readonly name = 'ProgramError';
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** Rejects with a `ProgramError` when a program cannot be started. */
export type StartProgram = (request: ProgramRequest) => Promise<Program>;

/** Starts a program on this machine, as the leader of its own group. */
export async function startProgram({ command, args, cwd = os.tmpdir(), env }: ProgramRequest): Promise<Program> {
  const own = { detached: process.platform !== 'win32', windowsHide: true };
  let child: ChildProcessWithoutNullStreams;
  try {
    child = spawn(command, [...args], { cwd, env: { ...childEnvironment(), ...env }, ...own });
  } catch (error) {
    throw programError(error);
  }
  // Without a listener, a broken pipe would crash the host.
  for (const emitter of [child, child.stdin, child.stdout, child.stderr]) emitter.on('error', () => {});
  const { pid } = child;
  if (pid === undefined) throw programError(await new Promise((resolve) => child.once('error', resolve)));
  const exited = new Promise<ProgramExit>((resolve) => {
    child.once('exit', (code, signal) => {
      const timer = setTimeout(() => resolve({ code, signal }), LAST_OUTPUT_MAX_MS);
      child.once('close', () => {
        clearTimeout(timer);
        resolve({ code, signal });
      });
    });
  });
  void exited.finally(killOnExit(pid));
  return {
    ...{ stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, exited },
    async end(graceMs) {
      await endGroup(pid, systemClock, graceMs);
      await succeedsWithin(systemClock, PROGRAM_EXIT_MAX_MS, exited);
      // A process that left the group may still hold the pipes.
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    },
    reach: (port) => Promise.resolve(port),
  };
}

function programError(error: unknown): ProgramError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'UNKNOWN';
  return new ProgramError(code, errorText(error));
}
