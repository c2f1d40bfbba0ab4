/**
 * The process around a command: streams, environment, folder, signals. Commands take them from here, so that a program can run
 * several commands, each with its own: `run(argv, io)`.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { homedir } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { ExitCode } from './exit.js';

export interface Io {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: NodeJS.ProcessEnv;
  readonly home: string;
  /**
   * The folder of sessions, terminals and files if the user names none. File names in options count from the process's
   * folder.
   */
  readonly cwd: string;
  /** Emits the names of signals that arrive, and `exit` and `uncaughtExceptionMonitor` as the process does. */
  readonly signals: Pick<NodeJS.EventEmitter, 'on' | 'once' | 'off'>;
  /** Sends the command itself a signal, as the terminal does for Ctrl+C and Ctrl+Z. */
  raise(signal: 'SIGINT' | 'SIGTSTP'): void;
  exit(code: number): never;
}

/** A terminal can hand on every key as it is typed. */
export type Input = Readable & { readonly isTTY?: boolean; setRawMode?(isRaw: boolean): unknown };

export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };

/** Getters, so that streams that a test replaces take effect. */
const ofProcess: Io = {
  get stdin() {
    return process.stdin;
  },
  get stdout() {
    return process.stdout;
  },
  get stderr() {
    return process.stderr;
  },
  get env() {
    return process.env;
  },
  get home() {
    return homedir();
  },
  get cwd() {
    return process.cwd();
  },
  signals: process,
  raise: (signal) => void process.kill(process.pid, signal),
  exit: (code) => process.exit(code),
};

const current = new AsyncLocalStorage<Io>();

/** The streams of the running command; by default, those of the process. */
export function io(): Io {
  return current.getStore() ?? ofProcess;
}

/**
 * Enters no store for the process's own streams: in Node 20 a store costs a hook on every promise until the process
 * ends.
 */
export function runWith<T>(given: Io, task: () => T): T {
  return given === io() ? task() : current.run(given, task);
}

/** One line of JSON. */
export function printJson(value: unknown): void {
  io().stdout.write(`${JSON.stringify(value)}\n`);
}

export function print(text: string): void {
  io().stdout.write(`${text}\n`);
}

/** Progress goes to standard error, so that pipes get only the answer. */
export function tell(text: string): void {
  io().stderr.write(`${text}\n`);
}

/** Ignores readers that stop early (`| head`). Reports a full disk. */
export function endQuietlyWhenUnread(): void {
  io().stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') io().exit(ExitCode.Ok);
    tell(`error: standard output cannot be written: ${error.message}`);
    io().exit(ExitCode.Failed);
  });
  // Standard error is closed: the work goes on without messages.
  io().stderr.on('error', () => {});
}
