/**
 * `git_status`: the changes since the last commit, as Git prints them. The tool runs without asking a person, so Git
 * runs as in `git/git.ts`: it starts no program of the repository, and writes nothing. It covers only the session's
 * folder, which may be one of many in a repository.
 */

import { type HostTool, ToolFailure } from '@atrium/core/contracts/tool.js';
import { type Clock, systemClock } from '@atrium/core/util/clock.js';
import { sessionFolders } from '@atrium/core/util/paths.js';
import { type ProcessEnd, runProcess } from '@atrium/core/util/run-process.js';
import { Tail } from '@atrium/core/util/streams.js';
import { shorten, sizeText } from '@atrium/core/util/text.js';
import { GitError, gitEnvironment, HARMLESS, NO_HOOKS } from '../git/git.js';
import { PROGRAM_LIST, programsIn } from '../git/repository.js';
import { foldersOf, hostTool, succeeded } from './host-tool.js';

const GIT_TIMEOUT_MS = 15_000;
const GIT_GRACE_MS = 1_000;
const GIT_OUTPUT_MAX_BYTES = 64 * 1024;

const STATUS = ['status', '--short', '--branch', '--ignore-submodules=dirty', '--', '.'];

interface GitStatusOptions {
  readonly git?: string;
  readonly clock?: Clock;
  readonly timeoutMs?: number;
}

export function gitStatusTool(options: GitStatusOptions = {}): HostTool {
  return hostTool({
    name: 'git_status',
    displayName: 'Git status',
    description: "Shows the branch and the changes in the session's folders: git status --short --branch.",
    annotations: { readOnlyHint: true, openWorldHint: false },
    properties: {},
    required: [],
    invocation: () => 'Check the git status',
    async run(_input, context) {
      const folders = await sessionFolders(foldersOf(context));
      const place = { ...options, signal: context.signal };
      const [folder = ''] = folders;
      const texts =
        folders.length === 1
          ? [await statusOf({ ...place, folder })]
          : await Promise.all(folders.map((each) => headedStatus({ ...place, folder: each })));
      return succeeded('Checked the git status', texts.join('\n\n'));
    },
  });
}

async function statusOf(git: GitPlace): Promise<string> {
  const noPrograms = programsOff(settingsText(await runGit(git, PROGRAM_LIST)));
  return statusText(await runGit(git, [...noPrograms, ...STATUS]));
}

/** Of several folders, some may not be in a repository. */
async function headedStatus(git: GitPlace): Promise<string> {
  const text = await statusOf(git).catch((error) => {
    if (error instanceof ToolFailure && error.code === 'NOT_A_REPOSITORY') return 'Not in a git repository.';
    throw error;
  });
  return `${git.folder}:\n${text}`;
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
  const take = (text: string): void => output.push(text);
  const limits = { signal, timeoutMs, graceMs: GIT_GRACE_MS, clock };
  const end = await runProcess({
    ...limits,
    command: git,
    args: [...HARMLESS, ...NO_HOOKS, ...args],
    cwd: folder,
    env: gitEnvironment(),
    output: take,
  });
  return { end, output };
}

function programsOff(settings: string): readonly string[] {
  try {
    return programsIn(settings).off;
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    throw new ToolFailure('GIT_FAILED', `Cannot read the repository: ${error.message}. Use the shell instead.`);
  }
}

function settingsText({ end, output }: GitRun): string {
  const text = output.text();
  // Exit code 1 means that there are none.
  if (end.kind !== 'exited' || end.code > 1) throw failureOf(end, text);
  if (output.dropped > 0)
    throw new ToolFailure('GIT_FAILED', 'The repository names too many programs to turn them off.');
  return text;
}

function statusText({ end, output }: GitRun): string {
  const text = output.text().trimEnd();
  if (end.kind !== 'exited' || end.code !== 0) throw failureOf(end, text);
  const lines = text.split('\n');
  if (lines.length <= 1) return `${text}\nNothing has changed since the last commit.`;
  return output.dropped > 0 ? `[Cut: only the last ${sizeText(GIT_OUTPUT_MAX_BYTES)}.]\n${text}` : text;
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
