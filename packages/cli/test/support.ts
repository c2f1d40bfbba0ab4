/** Starts the real command as a child process, and remembers everything it says. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { programFile } from '../../../test/support/programs.js';

/** The command as a bundle of its sources, which starts quickly. */
export const COMMAND = programFile('atrium');

/** The command as npm installs it. */
export const INSTALLED_COMMAND = fileURLToPath(new URL('../bin/atrium.js', import.meta.url));

/** The command is what the compiler made of it. */
export const isBuilt = existsSync(fileURLToPath(new URL('../dist/main.js', import.meta.url)));

/** A machine may be busy with other things. */
const TIMEOUT_MS = 30_000;
const SHARED_START_MAX_MS = 60_000;
export const DESK_SCRIPT = fileURLToPath(new URL('./fixtures/desk.json', import.meta.url));

export interface Run {
  readonly child: ChildProcess;
  /** Everything so far. */
  readonly said: { stdout: string; stderr: string };
  /** Fulfilled when standard output holds a match. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
  ended(): Promise<number | null>;
}

/** A home without configuration: it does not even exist. */
const NO_HOME = path.join(tmpdir(), 'atrium-test-without-home');

/** Only what it needs of our own environment: neither variables, files nor servers of the developer's change a test. */
export function surroundings(env: Readonly<Record<string, string>> = {}): Record<string, string> {
  const { PATH = '', SystemRoot = '' } = process.env;
  const own = { HOME: NO_HOME, USERPROFILE: NO_HOME, ATRIUM_DISCOVERY: '0', ATRIUM_GATEWAY_PORT: '0' };
  return { PATH, SystemRoot, ...own, ...env };
}

/** Takes what has to be done when something is no longer needed: at the end of the test, or of several. */
type Later = (cleanUp: () => Promise<void>) => void;

export function atrium(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  later: Later = onTestFinished,
): Run {
  const child = spawn(process.execPath, [COMMAND, ...args], { env: surroundings(env) });
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
  return { child, said, says: (pattern) => waitFor(child, said, pattern), ended: async () => (await exited)[0] };
}

async function waitFor(child: ChildProcess, said: Run['said'], pattern: RegExp): Promise<RegExpExecArray> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  for (;;) {
    const match = pattern.exec(said.stdout);
    if (match !== null) return match;
    if (child.exitCode !== null || signal.aborted) {
      throw new Error(`${pattern} was never printed.\n${said.stdout}\n${said.stderr}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** A data folder that does not exist yet. */
export async function newDataFolder(later: Later = onTestFinished): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'atrium-cli-'));
  later(() => rm(folder, { recursive: true, force: true }));
  return path.join(folder, 'data');
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Desk {
  readonly dataDir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly host: Run;
  /** Runs one command against the host to its end. */
  run(args: readonly string[], input?: string): Promise<Ended>;
  /** Starts one that goes on. */
  start(args: readonly string[]): Run;
}

/** A host with a scripted agent, and commands that find it by its data folder. */
export async function openDesk(hostArgs: readonly string[] = [], later: Later = onTestFinished): Promise<Desk> {
  const dataDir = await newDataFolder(later);
  const env = { ATRIUM_DATA_DIR: dataDir, ATRIUM_SCRIPT: DESK_SCRIPT, NO_COLOR: '1' };
  const host = atrium(['serve', '--quiet', '--port', '0', ...hostArgs], env, later);
  await host.says(/^READY:\d+$/m);
  const start = (args: readonly string[]) => atrium(args, env);
  return { dataDir, env, host, start, run: (args, input) => endOf(start(args), input) };
}

/** One host for all tests of a `describe`: to start one for each takes longer than what most of them look at. */
export function sharedDesk(): () => Desk {
  const cleanUps: (() => Promise<void>)[] = [];
  let desk: Desk | undefined;
  beforeAll(async () => {
    desk = await openDesk([], (cleanUp) => void cleanUps.unshift(cleanUp));
  }, SHARED_START_MAX_MS);
  afterAll(async () => {
    for (const cleanUp of cleanUps) await cleanUp();
  });
  return () => {
    if (!desk) throw new Error('the host has not been started');
    return desk;
  };
}

/** A folder beside the data folder of a desk, for one test. */
export async function newFolder({ dataDir }: Desk): Promise<string> {
  return realpath(await mkdtemp(path.join(path.dirname(dataDir), 'work-')));
}

export async function endOf({ child, said, ended }: Run, input = ''): Promise<Ended> {
  child.stdin?.end(input);
  return { code: await ended(), ...said };
}

/** Every line of standard output as JSON; fails when there is anything else. */
export function jsonLines(text: string): Record<string, unknown>[] {
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}
