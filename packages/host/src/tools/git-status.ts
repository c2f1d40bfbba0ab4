/** `git_status`: what has changed since the last commit, as Git itself says it. */
import { type Clock, systemClock } from '../clock.js';
import { hostTool, succeeded, ToolFailure } from './host-tool.js';
import { sessionFolder } from './paths.js';
import { type ProcessEnd, runProcess } from './run-process.js';
import { Tail } from './tail.js';
import { shorten, sizeText } from './text.js';
import type { HostTool } from './tool.js';

export const GIT_TIMEOUT_MS = 15_000;
export const GIT_GRACE_MS = 1_000;
export const GIT_OUTPUT_MAX_BYTES = 64 * 1024;

/**
 * Runs without asking anybody, so it must not run what a repository's configuration names (a file system monitor), must
 * not write (the index), and looks only at the session's folder, which may be one of many in a repository.
 */
const GIT_ARGUMENTS = ['--no-optional-locks', '-c', 'core.fsmonitor=false', 'status', '--short', '--branch', '--', '.'];

/** English, so that "not a git repository" can be told apart; and the repository is that of the folder, no other. */
const GIT_ENVIRONMENT = {
  LC_ALL: 'C',
  GIT_TERMINAL_PROMPT: '0',
  GIT_DIR: undefined,
  GIT_WORK_TREE: undefined,
  GIT_INDEX_FILE: undefined,
};

export interface GitStatusOptions {
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
      const output = new Tail(GIT_OUTPUT_MAX_BYTES);
      const end = await runProcess({
        command: options.git ?? 'git',
        args: GIT_ARGUMENTS,
        cwd: await sessionFolder(cwd),
        env: { ...process.env, ...GIT_ENVIRONMENT },
        signal,
        timeoutMs: options.timeoutMs ?? GIT_TIMEOUT_MS,
        graceMs: GIT_GRACE_MS,
        clock: options.clock ?? systemClock,
        output: (text) => output.push(text),
      });
      return succeeded('Checked the git status', statusText(end, output));
    },
  });
}

function statusText(end: ProcessEnd, output: Tail): string {
  const text = output.text().trimEnd();
  if (end.kind !== 'exited' || end.code !== 0) throw failureOf(end, text);
  const lines = text.split('\n');
  if (lines.length <= 1) return `${text}\nNothing has changed since the last commit.`;
  return output.dropped > 0 ? `[Cut: only the last ${sizeText(GIT_OUTPUT_MAX_BYTES)}.]\n${text}` : text;
}

function failureOf(end: ProcessEnd, text: string): ToolFailure {
  if (end.kind === 'cancelled') return new ToolFailure('cancelled', 'Cancelled before it was done.');
  if (end.kind === 'timeout') return new ToolFailure('timeout', 'Git took too long and was stopped.');
  if (end.kind === 'not-started') {
    const missing = end.code === 'ENOENT';
    return missing
      ? new ToolFailure('no-git', 'Git is not installed on this machine, or not on the PATH of the host.')
      : new ToolFailure('no-git', `Git could not be started (${end.code}).`);
  }
  if (/not a git repository/i.test(text)) {
    return new ToolFailure('not-a-repository', "The session's folder is not in a git repository.");
  }
  return new ToolFailure('git-failed', `Git failed: ${shorten(text, 300)}`);
}
