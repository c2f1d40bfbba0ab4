/**
 * What a command has to do with the process around it: streams, environment, signals. Commands take them from here, so
 * that a program can run several commands of its own, each with its own: `run(argv, io)`. What needs a real terminal (the
 * chat, a terminal that is attached) uses the process itself.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { homedir } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { ExitCode } from './exit.js';

export interface Io {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: NodeJS.ProcessEnv;
  readonly home: string;
  /** Emits the names of signals that arrive. */
  readonly signals: Pick<NodeJS.EventEmitter, 'on' | 'once' | 'off'>;
  exit(code: number): never;
}

export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };

/** By getters: whoever replaces a stream of the process for a while is heard. */
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
  signals: process,
  exit: (code) => process.exit(code),
};

const current = new AsyncLocalStorage<Io>();

/** What the running command was given; by default, what the process has. */
export function io(): Io {
  return current.getStore() ?? ofProcess;
}

export function runWith<T>(given: Io, task: () => T): T {
  return current.run(given, task);
}

/** What goes to standard output, for people or programs, and what is said beside it. */

/** One line of JSON. */
export function printJson(value: unknown): void {
  io().stdout.write(`${JSON.stringify(value)}\n`);
}

export function print(text: string): void {
  io().stdout.write(`${text}\n`);
}

/** Progress goes to standard error: what is piped on stays clean. */
export function tell(text: string): void {
  io().stderr.write(`${text}\n`);
}

/** Whoever reads our output may have seen enough (`| head`): that is no error. A full disk is one, and is said. */
export function endQuietlyWhenUnread(): void {
  io().stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') io().exit(ExitCode.Ok);
    tell(`error: standard output cannot be written: ${error.message}`);
    io().exit(ExitCode.Failed);
  });
  // Nobody hears what is said beside it; the work goes on.
  io().stderr.on('error', () => {});
}
