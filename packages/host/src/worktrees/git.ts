/**
 * Asks Git something about a repository, or has it make a worktree. Nothing that a repository's configuration names is
 * run: no hooks, no monitors, no filters, no fetching. Whoever copied a repository from somewhere need not trust it.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { childEnvironment } from '../child-environment.js';
import { GIT_FILTER_LIST, withoutFilters } from '../tools/git-filters.js';

export const GIT_LOOK_TIMEOUT_MS = 5_000;
/** Making a worktree writes every file of the repository. */
export const GIT_CHECKOUT_TIMEOUT_MS = 10 * 60_000;
const OUTPUT_MAX_BYTES = 4 * 2 ** 20;

const QUIET = ['--no-optional-locks', '-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null'];
const ENVIRONMENT = {
  LC_ALL: 'C',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ALLOW_PROTOCOL: '',
  GIT_NO_LAZY_FETCH: '1',
  GIT_DIR: undefined,
  GIT_WORK_TREE: undefined,
  GIT_INDEX_FILE: undefined,
};

const run = promisify(execFile);

/** What Git prints. Rejects with Git's own words when it fails, or is not there. */
export async function git(folder: string, args: readonly string[], timeoutMs = GIT_LOOK_TIMEOUT_MS): Promise<string> {
  const env = { ...childEnvironment(), ...ENVIRONMENT };
  const options = { cwd: folder, env, timeout: timeoutMs, maxBuffer: OUTPUT_MAX_BYTES, windowsHide: true };
  try {
    return (await run('git', [...QUIET, ...args], options)).stdout;
  } catch (error) {
    throw new Error(wordsOf(error), { cause: error });
  }
}

/** The same, with files written: by no program that the repository names. */
export async function gitCheckout(folder: string, args: readonly string[]): Promise<void> {
  const filters = await git(folder, GIT_FILTER_LIST).catch(() => '');
  const names = new Set(filters.split('\0').flatMap((setting) => setting.slice(0, setting.lastIndexOf('.')) || []));
  const smudges = [...names].flatMap((name) => ['-c', `${name}.smudge=`]);
  await git(folder, [...withoutFilters(filters), ...smudges, ...args], GIT_CHECKOUT_TIMEOUT_MS);
}

function wordsOf(error: unknown): string {
  const { code, stderr, message } = error as { code?: unknown; stderr?: unknown; message?: unknown };
  if (code === 'ENOENT') return 'git is not installed, or not on the PATH of the host';
  const said = typeof stderr === 'string' ? stderr.trim().replace(/^(fatal|error): /gm, '') : '';
  return (said || String(message)).slice(0, 500);
}
