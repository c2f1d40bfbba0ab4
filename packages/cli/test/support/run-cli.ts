/**
 * Runs the command and remembers everything it says: `atrium` in this process, with streams and an environment of its own;
 * `spawnAtrium` as a process, for what only a process has (signals, a terminal, an exit code, a death).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { programFile } from '../../../../test/support/programs.js';
import { run } from '../../src/cli.js';
import { type Io, runWith } from '../../src/io.js';
import type { Window } from './window.js';

/** The command as it is shipped, bundled from the sources. */
export const COMMAND = programFile('atrium');

/** The command as the compiler made it, in many files. */
export const COMPILED_COMMAND = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** Compiled code of the bundle, for all tests and all runs: most of them start processes without a home. */
const CODE_CACHE = fileURLToPath(new URL('../../../../node_modules/.cache/atrium/code', import.meta.url));

/** A machine may be busy with other things. */
const TIMEOUT_MS = 30_000;
/** A home without configuration: it does not even exist. */
const NO_HOME = path.join(tmpdir(), 'atrium-test-without-home');

export type Environment = Readonly<Record<string, string>>;

/** Takes what has to be done when something is no longer needed: at the end of the test, or of several. */
export type Later = (cleanUp: () => Promise<void>) => void;

/** Where a command runs, and when it is ended at the latest. */
export interface Place {
  readonly cwd?: string;
  readonly later?: Later;
  /** The window in which it runs, in this process. */
  readonly window?: Window;
}

export interface Run {
  /** Of the process in which the command runs, which may be this one. */
  readonly pid: number | undefined;
  readonly stdin: Writable;
  /** Everything so far. */
  readonly said: { stdout: string; stderr: string };
  /** Fulfilled when standard output holds a match. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
  signal(name: NodeJS.Signals): void;
  ended(): Promise<number | null>;
}

export interface LocalRun extends Run {
  /** What both streams said so far, in the order in which a terminal would show it. */
  shown(): string;
}

export interface ProcessRun extends Run {
  readonly child: ChildProcess;
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Only what it needs of our own environment: neither variables, files nor servers of the developer's change a test. */
export function surroundings(env: Environment = {}): Record<string, string> {
  const { PATH = '', SystemRoot = '' } = process.env;
  const home = { HOME: NO_HOME, USERPROFILE: NO_HOME, ATRIUM_CODE_CACHE: CODE_CACHE };
  return { PATH, SystemRoot, ...home, ATRIUM_DISCOVERY: '0', ATRIUM_GATEWAY_PORT: '0', ...env };
}

export function atrium(args: readonly string[], env: Environment = {}, place: Place = {}): LocalRun {
  const { later = onTestFinished, cwd = process.cwd(), window } = place;
  const said = { stdout: '', stderr: '' };
  let shown = '';
  const show = (text: string) => {
    shown += text;
  };
  const signals = new EventEmitter();
  const stdin: Writable & Io['stdin'] = window?.streams.stdin ?? new PassThrough();
  const given = surroundings(env);
  let left: ((code: number) => void) | undefined;
  const exited = new Promise<number>((resolve) => {
    left = resolve;
  });
  const io: Io = {
    ...{ stdin, stdout: sink(said, 'stdout', show), stderr: sink(said, 'stderr', show) },
    ...window?.streams,
    env: given,
    home: given.HOME ?? NO_HOME,
    cwd,
    signals,
    raise: (name) => void signals.emit(name, name),
    exit(code) {
      left?.(code);
      throw new Error(`exit ${code}`);
    },
  };
  let isTold = false;
  const signal = (name: NodeJS.Signals) => {
    isTold = true;
    runWith(io, () => signals.emit(name, name));
  };
  window?.connect(
    (task) => runWith(io, task),
    () => signal('SIGINT'),
  );
  let code: number | undefined;
  const ended = Promise.race([withEnvironment(given, () => run(['node', 'atrium', ...args], io)), exited]);
  void ended.then((value) => {
    code = value;
  });
  later(async () => {
    stdin.end();
    // A second signal would be taken for impatience.
    if (code === undefined && !isTold) signal('SIGTERM');
    await ended;
  });
  return {
    ...{ pid: process.pid, stdin, said, shown: () => shown },
    says: (pattern) => waitFor(() => code !== undefined, said, pattern),
    signal,
    ended: () => ended,
  };
}

/** Commander reads the environment of the process, before the command does anything that takes time. */
function withEnvironment<T>(env: NodeJS.ProcessEnv, task: () => T): T {
  const own = process.env;
  process.env = env;
  try {
    return task();
  } finally {
    process.env = own;
  }
}

function sink(said: Run['said'], name: 'stdout' | 'stderr', show: (text: string) => void): Writable {
  const decoder = new TextDecoder();
  return new Writable({
    write(chunk: Buffer, _, done) {
      const text = decoder.decode(chunk, { stream: true });
      said[name] += text;
      show(text);
      done();
    },
  });
}

export function spawnAtrium(args: readonly string[], env: Environment = {}, place: Place = {}): ProcessRun {
  const { later = onTestFinished, cwd } = place;
  const child = spawn(process.execPath, [COMMAND, ...args], { env: surroundings(env), cwd });
  const exited = once(child, 'close');
  later(async () => {
    if (child.exitCode === null) child.kill('SIGKILL');
    await exited;
  });
  const said = { stdout: '', stderr: '' };
  // A letter of several bytes may come in two chunks.
  child.stdout.setEncoding('utf8');
  child.stderr.setEncoding('utf8');
  child.stdout.on('data', (chunk) => {
    said.stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    said.stderr += chunk;
  });
  return {
    ...{ child, pid: child.pid, said, stdin: child.stdin },
    says: (pattern) => waitFor(() => child.exitCode !== null, said, pattern),
    signal: (name) => void child.kill(name),
    ended: async () => (await exited)[0],
  };
}

async function waitFor(hasEnded: () => boolean, said: Run['said'], pattern: RegExp): Promise<RegExpExecArray> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  for (;;) {
    const isLast = hasEnded() || signal.aborted;
    const match = pattern.exec(said.stdout);
    if (match !== null) return match;
    if (isLast) throw new Error(`${pattern} was never printed.\n${said.stdout}\n${said.stderr}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

export async function endOf({ stdin, said, ended }: Run, input = ''): Promise<Ended> {
  stdin.end(input);
  return { code: await ended(), ...said };
}

/** Every line of standard output as JSON; fails when there is anything else. */
export function jsonLines(text: string): Record<string, unknown>[] {
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}
