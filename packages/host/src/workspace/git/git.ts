/**
 * Runs Git in a folder that may have come from anywhere. The host starts no program that its configuration names (monitors,
 * hooks, filters, other diff programs), fetches nothing, and writes nothing unless that is what the caller asks for.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { devNull } from 'node:os';
import { childEnvironment } from '@atrium/core/util/processes.js';
import { shorten, sizeText } from '@atrium/core/util/text.js';

/** How long Git may take over reading, over changing something, and over writing out a whole repository. */
export const GIT_READ_MAX_MS = 30_000;
export const GIT_WRITE_MAX_MS = 120_000;
export const GIT_CHECKOUT_MAX_MS = 10 * 60_000;
/** How long it may take while a person waits at a form. */
export const GIT_GLANCE_MAX_MS = 5_000;
/** Between asking Git to end and killing it. */
export const GIT_GRACE_MS = 2_000;
/** The host does not take in a longer list: reading it would hold up the event loop. */
export const GIT_OUTPUT_MAX_BYTES = 16 * 2 ** 20;
/** Of what Git says when it fails, people see so much. */
export const GIT_WORDS_MAX_CHARACTERS = 300;
/** Contents that one run of Git hands over, as Git stores them. */
export const GIT_CONTENTS_MAX_BYTES = 32 * 2 ** 20;

/** Git could not do it. The message is for people. */
export class GitError extends Error {
  override readonly name = 'GitError';
  constructor(
    message: string,
    /** Absent when it did not run to its end. */
    readonly code?: number,
  ) {
    super(message);
  }
}

export interface GitRun {
  readonly input?: string | Uint8Array;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  /** It is asked to end, so that it removes its locks, where it would be killed otherwise. */
  readonly isAskedToEnd?: boolean;
  /** It is stopped when it writes more. */
  readonly maxBytes?: number;
  /** Exit codes that are no failure. */
  readonly fine?: readonly number[];
}

/** For every run. */
export const HARMLESS: readonly string[] = [
  ...['--no-pager', '-c', 'core.fsmonitor=false', '-c', 'safe.bareRepository=explicit'],
  ...['-c', 'core.quotePath=false', '-c', 'gc.auto=0', '-c', 'maintenance.auto=false'],
];
/** For all but a commit in a folder that people trust. */
export const NO_HOOKS: readonly string[] = ['-c', `core.hooksPath=${devNull}`];

const NO_GIT = 'Git is not installed on this machine, or not on the PATH of the host';

/** Which repository it is, and what is in it, is found from the folder alone. */
const OTHER_REPOSITORY =
  /^GIT_(DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|COMMON_DIR|NAMESPACE|CONFIG.*|.*PATHSPECS|EXTERNAL_DIFF|DIFF_OPTS|PAGER|TRACE.*)$/;

/** For what people trust: as if they had run Git in that folder themselves. */
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

/** What Git wrote, as bytes. */
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
    // Git may end before it has read all of it; how it ended says enough.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}

/** The same as text, without the last line break. */
export async function gitText(folder: string, args: readonly string[], run?: GitRun): Promise<string> {
  return (await git(folder, args, run)).toString('utf8').replace(/\n$/, '');
}

/** The same as lines that end with a zero byte, one character per byte. */
export async function gitList(folder: string, args: readonly string[], run?: GitRun): Promise<string[]> {
  const text = (await git(folder, args, run)).toString('latin1');
  return text === '' ? [] : text.replace(/\0$/, '').split('\0');
}

export function gitWords(stderr: Uint8Array | string): string {
  const text = Buffer.from(stderr as string).toString('utf8');
  return shorten(text.replace(/^(?:fatal|error): /gm, ''), GIT_WORDS_MAX_CHARACTERS);
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
  return new GitError(`Git failed: ${gitWords(stderr) || `exit code ${error.code}`}`, error.code);
}
