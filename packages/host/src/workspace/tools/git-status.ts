/**
 * `git_status`: the state of the working folder, as Git prints it. A repository can name programs (filters) that turn files
 * into what Git stores. Reading must not run them, because a copied repository may name anything.
 */
import { type HostTool, ToolFailure } from '../../core/contracts/tool.js';
import { childEnvironment } from '../../core/util/child-environment.js';
import { type Clock, systemClock } from '../../core/util/clock.js';
import { sessionFolder } from '../../core/util/paths.js';
import { type ProcessEnd, runProcess } from '../../core/util/run-process.js';
import { Tail } from '../../core/util/tail.js';
import { shorten, sizeText } from '../../core/util/text.js';
import { hostTool, succeeded } from './host-tool.js';

/** A repository with more is not looked at: every filter makes the command longer. */
export const GIT_FILTERS_MAX = 100;
/** Says which settings of filters there are: their names alone, as their values may hold anything. */
const GIT_FILTER_LIST = ['config', '--null', '--name-only', '--get-regexp', '^filter\\.'] as const;
const GIT_TIMEOUT_MS = 15_000;
const GIT_GRACE_MS = 1_000;
const GIT_OUTPUT_MAX_BYTES = 64 * 1024;
/**
 * Runs without asking anybody, so it must not run what a repository's configuration names (a file system monitor,
 * filters, those of repositories inside it), must not write (the index), and looks only at the session's folder, which
 * may be one of many in a repository.
 */
const LOOK_ONLY = ['--no-optional-locks', '-c', 'core.fsmonitor=false'];
const STATUS = ['status', '--short', '--branch', '--ignore-submodules=dirty', '--', '.'];
/**
 * English, so that "not a git repository" can be told apart; the repository is that of the folder, no other; and what
 * is missing in it is not fetched, for a repository also names the programs that do that.
 */
const GIT_ENVIRONMENT = {
  LC_ALL: 'C',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ALLOW_PROTOCOL: '',
  GIT_NO_LAZY_FETCH: '1',
  GIT_DIR: undefined,
  GIT_WORK_TREE: undefined,
  GIT_INDEX_FILE: undefined,
};

interface GitStatusOptions {
  readonly git?: string;
  readonly clock?: Clock;
  readonly timeoutMs?: number;
}

export function gitStatusTool(options: GitStatusOptions = {}): HostTool {
  return hostTool({
    name: 'git_status',
    displayName: 'Git status',
    description: "Shows the branch and what has changed in the session's folder: git status --short --branch.",
    annotations: { readOnlyHint: true, openWorldHint: false },
    properties: {},
    required: [],
    invocation: () => 'Check the git status',
    async run(_input, { cwd, signal }) {
      const git = { ...options, folder: await sessionFolder(cwd), signal };
      const filters = await runGit(git, [...LOOK_ONLY, ...GIT_FILTER_LIST]);
      const without = withoutFilters(filterText(filters));
      return succeeded('Checked the git status', statusText(await runGit(git, [...LOOK_ONLY, ...without, ...STATUS])));
    },
  });
}

interface GitRun {
  readonly end: ProcessEnd;
  readonly output: Tail;
}

interface GitPlace extends GitStatusOptions {
  readonly folder: string;
  readonly signal: AbortSignal;
}

async function runGit(
  { git = 'git', folder, signal, timeoutMs = GIT_TIMEOUT_MS, clock = systemClock }: GitPlace,
  args: readonly string[],
): Promise<GitRun> {
  const output = new Tail(GIT_OUTPUT_MAX_BYTES);
  const env = { ...childEnvironment(), ...GIT_ENVIRONMENT };
  const take = (text: string): void => output.push(text);
  const limits = { signal, timeoutMs, graceMs: GIT_GRACE_MS, clock };
  const end = await runProcess({ ...limits, command: git, args, cwd: folder, env, output: take });
  return { end, output };
}

function statusText({ end, output }: GitRun): string {
  const text = output.text().trimEnd();
  if (end.kind !== 'exited' || end.code !== 0) throw failureOf(end, text);
  const lines = text.split('\n');
  if (lines.length <= 1) return `${text}\nNothing has changed since the last commit.`;
  return output.dropped > 0 ? `[Cut: only the last ${sizeText(GIT_OUTPUT_MAX_BYTES)}.]\n${text}` : text;
}

function filterText({ end, output }: GitRun): string {
  const text = output.text();
  // 1 means that there are none.
  if (end.kind !== 'exited' || end.code > 1) throw failureOf(end, text);
  if (output.dropped > 0) throw new ToolFailure('GIT_FAILED', 'Git has too many filters to look past them.');
  return text;
}

/** The arguments that turn off every filter of that list. */
export function withoutFilters(list: string): string[] {
  const settings = list.split('\0').filter((setting) => setting !== '');
  const filters = new Set(settings.map((setting) => setting.slice(0, setting.lastIndexOf('.'))));
  if (filters.size > GIT_FILTERS_MAX) throw refusal(`it has more than ${GIT_FILTERS_MAX} filters`);
  return [...filters].flatMap((filter) => {
    // The first "=" ends the name of a setting on a command line, so this one cannot be turned off.
    if (filter.includes('=')) throw refusal('the name of one of its filters contains "="');
    return [`${filter}.clean=`, `${filter}.process=`, `${filter}.required=false`].flatMap((setting) => ['-c', setting]);
  });
}

function refusal(why: string): ToolFailure {
  return new ToolFailure('GIT_FAILED', `The repository is not looked at: ${why}. Use the shell instead.`);
}

function failureOf(end: ProcessEnd, text: string): ToolFailure {
  if (end.kind === 'cancelled') return new ToolFailure('CANCELLED', 'Cancelled before it was done.');
  if (end.kind === 'timeout') return new ToolFailure('TIMEOUT', 'Git took too long and was stopped.');
  if (end.kind === 'not-started') {
    const missing = end.code === 'ENOENT';
    return missing
      ? new ToolFailure('NO_GIT', 'Git is not installed on this machine, or not on the PATH of the host.')
      : new ToolFailure('NO_GIT', `Git could not be started (${end.code}).`);
  }
  if (/not a git repository/i.test(text)) {
    return new ToolFailure('NOT_A_REPOSITORY', "The session's folder is not in a git repository.");
  }
  return new ToolFailure('GIT_FAILED', `Git failed: ${shorten(text, 300)}`);
}
