/**
 * Runs Git in a folder that may have come from anywhere. The host runs no program that the folder's configuration names
 * (monitors, hooks, filters, other diff programs), fetches nothing, and writes nothing unless the caller asks for that.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { devNull } from 'node:os';
import { childEnvironment } from '@atrium/core/util/processes.js';
import { shorten, sizeText } from '@atrium/core/util/text.js';

/** How long Git may take to read, to change something, and to write out a whole repository. */
export const GIT_READ_MAX_MS = 30_000;
export const GIT_WRITE_MAX_MS = 120_000;
export const GIT_CHECKOUT_MAX_MS = 10 * 60_000;
/** How long it may take while a person waits at a form. */
export const GIT_GLANCE_MAX_MS = 5_000;
/** The time between asking Git to end and killing it. */
export const GIT_GRACE_MS = 2_000;
/** The host refuses a longer list, because reading it would block the event loop. */
export const GIT_OUTPUT_MAX_BYTES = 16 * 2 ** 20;
/** How much of Git's error text people see. */
export const GIT_ERROR_MAX_CHARACTERS = 300;
/** How much content one run of Git may return, as Git stores it. */
export const GIT_CONTENTS_MAX_BYTES = 32 * 2 ** 20;

/** Git failed. The message is for people. */
export class GitError extends Error {
  override readonly name = 'GitError';
  constructor(
    message: string,
    /** Absent when Git did not run to its end. */
    readonly code?: number,
  ) {
    super(message);
  }
}

export interface GitRun {
  readonly input?: string | Uint8Array;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  /** Asks Git to end instead of killing it, so that it removes its locks. */
  readonly isAskedToEnd?: boolean;
  /** Git is stopped when it writes more. */
  readonly maxBytes?: number;
  /** Exit codes that do not count as failures. */
  readonly fine?: readonly number[];
}

/** Arguments of every run. */
export const HARMLESS: readonly string[] = [
  ...['--no-pager', '-c', 'core.fsmonitor=false', '-c', 'safe.bareRepository=explicit'],
  ...['-c', 'core.quotePath=false', '-c', 'gc.auto=0', '-c', 'maintenance.auto=false'],
];
/** Arguments of every run except a commit in a trusted folder. */
export const NO_HOOKS: readonly string[] = ['-c', `core.hooksPath=${devNull}`];

const NO_GIT = 'Git is not installed on this machine, or not on the PATH of the host';

/** Variables that would point Git elsewhere: the folder alone decides which repository Git uses. */
const OTHER_REPOSITORY =
  /^GIT_(DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|COMMON_DIR|NAMESPACE|CONFIG.*|.*PATHSPECS|EXTERNAL_DIFF|DIFF_OPTS|PAGER|TRACE.*)$/;

/** For trusted folders: the environment as if people had run Git there themselves. */
export function plainEnvironment(): Record<string, string> {
  const own = Object.entries(childEnvironment()).filter(([name]) => !OTHER_REPOSITORY.test(name));
  return { ...Object.fromEntries(own), GIT_TERMINAL_PROMPT: '0' };
}

export function gitEnvironment(): Record<string, string> {
  return {
    ...plainEnvironment(),
    LC_ALL: 'C',
    GIT_ALLOW_PROTOCOL: '',
    GIT_NO_LAZY_FETCH: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_LITERAL_PATHSPECS: '1',
  };
}

/** Returns Git's output as bytes. */
export function git(folder: string, args: readonly string[], run: GitRun = {}): Promise<Buffer> {
  const { input, signal, timeoutMs = GIT_READ_MAX_MS, maxBytes = GIT_OUTPUT_MAX_BYTES, fine = [] } = run;
  const options = {
    cwd: folder,
    env: gitEnvironment(),
    encoding: 'buffer',
    maxBuffer: maxBytes,
    timeout: timeoutMs,
    killSignal: run.isAskedToEnd ? 'SIGTERM' : 'SIGKILL',
    windowsHide: true,
    ...(signal && { signal }),
  } as const;
  return new Promise((resolve, reject) => {
    const child = execFile('git', [...HARMLESS, ...NO_HOOKS, ...args], options, (error, stdout, stderr) => {
      if (!error || fine.includes(Number(error.code))) resolve(stdout);
      else reject(failureOf(error, stderr, { folder, maxBytes }));
    });
    // Git may end before it has read everything; its exit says enough.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}

/** Like `git`, but returns text without the last line break. */
export async function gitText(folder: string, args: readonly string[], run?: GitRun): Promise<string> {
  return (await git(folder, args, run)).toString('utf8').replace(/\n$/, '');
}

/** Like `git`, but returns the fields that end with a zero byte, with one character per byte. */
export async function gitList(folder: string, args: readonly string[], run?: GitRun): Promise<string[]> {
  const text = (await git(folder, args, run)).toString('latin1');
  return text === '' ? [] : text.replace(/\0$/, '').split('\0');
}

export function gitErrorText(stderr: Uint8Array | string): string {
  const text = Buffer.from(stderr as string).toString('utf8');
  return shorten(text.replace(/^(?:fatal|error): /gm, ''), GIT_ERROR_MAX_CHARACTERS);
}

function failureOf(
  error: Error & { code?: unknown },
  stderr: Buffer,
  { folder, maxBytes }: { readonly folder: string; readonly maxBytes: number },
): GitError {
  if (error.code === 'ENOENT') return new GitError(existsSync(folder) ? NO_GIT : `there is no folder ${folder}`);
  if (error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') {
    return new GitError(`Git listed more than ${sizeText(maxBytes)}, which is too much to go through`);
  }
  if (error.name === 'AbortError') return new GitError('stopped before Git was done');
  if (typeof error.code !== 'number') return new GitError('Git took too long and was stopped');
  return new GitError(`Git failed: ${gitErrorText(stderr) || `exit code ${error.code}`}`, error.code);
}
