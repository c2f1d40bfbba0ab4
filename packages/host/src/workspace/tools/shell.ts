/** `shell`: runs a command line in the platform's shell in the session's folder, once a person has agreed. */

import {
  ALLOW_IN_SESSION,
  type HostTool,
  SHELL_GRACE_MS,
  SHELL_OUTPUT_MAX_BYTES,
  type TerminalRun,
  type ToolConfirmation,
  type ToolContext,
  ToolFailure,
  type ToolOutput,
} from '@atrium/core/contracts/tool.js';
import { type Clock, systemClock } from '@atrium/core/util/clock.js';
import { sessionFolder } from '@atrium/core/util/paths.js';
import { childEnvironment } from '@atrium/core/util/processes.js';
import { runProcess } from '@atrium/core/util/run-process.js';
import { throttle } from '@atrium/core/util/scheduling.js';
import { Tail } from '@atrium/core/util/streams.js';
import { shorten, sizeText } from '@atrium/core/util/text.js';
import type { ToolResultContent } from '@atrium/protocol/ahp-1';
import { portOf } from './background.js';
import { hostTool } from './host-tool.js';

/** How long a command may run if the agent does not say. */
export const SHELL_TIMEOUT_MS = 120_000;
/** The longest time that an agent may ask for; longer commands run in the background. */
export const SHELL_TIMEOUT_MAX_MS = 600_000;
export const SHELL_PROGRESS_MAX_BYTES = 64 * 1024;
export const SHELL_PROGRESS_EVERY_MS = 100;

export interface ShellOptions {
  readonly clock?: Clock;
  readonly timeoutMs?: number;
  readonly graceMs?: number;
}

export function shellTool(options: ShellOptions = {}): HostTool {
  const { clock = systemClock, timeoutMs: defaultMs = SHELL_TIMEOUT_MS, graceMs = SHELL_GRACE_MS } = options;
  return hostTool({
    name: 'shell',
    displayName: 'Shell',
    description:
      "Runs a command line in the session's folder. A person may be asked first. The command gets no keyboard input, so use " +
      'flags that keep it from asking. It is stopped, with every process that it started, when its time is up, and processes ' +
      `that it leaves behind are stopped when it ends. Returns the last ${sizeText(SHELL_OUTPUT_MAX_BYTES)} of the output. ` +
      'Use "background" for servers, watchers and anything that takes longer; you are told when it ends.',
    annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
    properties: {
      command: { type: 'string', minLength: 1, description: 'The command line.' },
      interactive: {
        type: 'boolean',
        description:
          'Only for commands into which a person has to type something that you cannot know, such as a password.',
      },
      background: {
        type: 'boolean',
        description: 'Starts the command and returns at once, with an id for background_read and background_stop.',
      },
      timeoutSeconds: {
        type: 'integer',
        minimum: 1,
        maximum: SHELL_TIMEOUT_MAX_MS / 1_000,
        description: `How long the command may run. Default: ${SHELL_TIMEOUT_MS / 1_000}.`,
      },
    },
    required: ['command'],
    invocation: ({ command, background }) => `Run ${shorten(command, 80)}${background ? ' in the background' : ''}`,
    confirmation,
    async run({ command, interactive = false, background = false, timeoutSeconds }, context) {
      if (command.includes('\0')) throw new ToolFailure('BAD_INPUT', 'A command cannot contain a zero byte.');
      const cwd = await sessionFolder(context.cwd);
      if (background) return startBackground(command, cwd, context);
      const output = new Tail(SHELL_OUTPUT_MAX_BYTES);
      const timeoutMs = timeoutSeconds === undefined ? defaultMs : timeoutSeconds * 1_000;
      const end = await run({ clock, graceMs, timeoutMs, command, cwd, interactive }, output, context);
      return outputOf(command, output, verdict(end, timeoutMs));
    },
  });
}

interface ShellCommand {
  readonly command: string;
  readonly cwd: string;
  readonly interactive: boolean;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly graceMs: number;
}

/**
 * Runs the command in a terminal if the host has terminals, so that people can watch and help; otherwise with pipes.
 */
async function run(command: ShellCommand, output: Tail, context: ToolContext): Promise<TerminalRun> {
  const { signal, progress, runInTerminal, running } = context;
  let terminal: ToolResultContent[] = [];
  const shown = throttle(command.clock, SHELL_PROGRESS_EVERY_MS, () => {
    running?.store();
    progress([...terminal, { type: 'text', text: output.text(SHELL_PROGRESS_MAX_BYTES) }]);
  });
  const take = (text: string): void => {
    if (text === '') return;
    output.push(text);
    shown.request();
  };
  const request = { ...command, signal, output: take };
  const end = await runInTerminal?.({
    ...request,
    running,
    shown: (place) => {
      terminal = [{ type: 'terminal', ...place }];
      progress(terminal);
    },
  });
  const done = end ?? (await runProcess({ ...request, env: { ...childEnvironment(), ...running?.environment() } }));
  shown.stop();
  return done;
}

async function startBackground(command: string, cwd: string, context: ToolContext): Promise<ToolOutput> {
  const { id, terminal } = await portOf(context).start({ command, cwd });
  const title = shorten(command, 80);
  const text = `Started in the background as ${id}. Read its output with background_read; you are told when it ends.`;
  return {
    success: true,
    pastTenseMessage: `Started ${title} in the background`,
    content: [
      { type: 'text', text },
      { type: 'terminal', resource: terminal, title },
    ],
  };
}

function confirmation(input: { readonly command: string; readonly background?: boolean }): ToolConfirmation {
  const { command, background } = input;
  return {
    title: `Run "${shorten(command, 80)}"${background ? ' in the background' : ''}?`,
    editable: true,
    options: [
      { id: 'approve', label: 'Run', kind: 'approve' },
      { id: ALLOW_IN_SESSION, label: 'Run, and allow all commands in this session', kind: 'approve' },
      { id: 'deny', label: 'Do not run', kind: 'deny' },
    ],
  };
}

interface Verdict {
  readonly success: boolean;
  readonly code: string;
  /** Shown below the output, such as `exit code 1`. */
  readonly note: string;
}

function verdict(end: TerminalRun, timeoutMs: number): Verdict {
  if (end.kind === 'exited') return exitVerdict(end.code, end.strays);
  if (end.kind === 'timeout') {
    return { success: false, code: 'TIMEOUT', note: timeoutNote(timeoutMs) };
  }
  if (end.kind === 'cancelled') return { success: false, code: 'CANCELLED', note: 'cancelled' };
  if (end.kind === 'detached') return { success: true, code: '', note: detachedNote(end.isTaken) };
  if (end.kind === 'killed') return { success: false, code: 'KILLED', note: `ended by ${end.signal}` };
  return { success: false, code: 'NOT_STARTED', note: `the shell could not be started (${end.code})` };
}

function timeoutNote(timeoutMs: number): string {
  const isLongest = timeoutMs >= SHELL_TIMEOUT_MAX_MS;
  const advice = isLongest ? 'run it in the background' : 'give it more "timeoutSeconds", or run it in the background';
  return `stopped after ${timeoutMs / 1_000} s; if it needs longer, ${advice}`;
}

function detachedNote(isTaken: boolean): string {
  const what = isTaken ? 'a person has taken over the terminal' : 'a person has put it into the background';
  return `${what}; it is still running, and its further output is not shown here`;
}

function exitVerdict(code: number, strays: boolean): Verdict {
  const background = strays ? '; its background processes were ended' : '';
  return { success: code === 0, code: 'EXIT_CODE', note: `exit code ${code}${background}` };
}

function outputOf(command: string, output: Tail, { success, code, note }: Verdict): ToolOutput {
  const cut = output.dropped > 0 ? `[Cut: the first ${sizeText(output.dropped)} are left out.]\n` : '';
  const text = output.text();
  const separator = text === '' || text.endsWith('\n') ? '' : '\n';
  return {
    success,
    pastTenseMessage: `Ran ${shorten(command, 80)} (${note})`,
    content: [{ type: 'text', text: `${cut}${text}${separator}[${note}]` }],
    ...(success ? {} : { error: { message: `The command failed: ${note}.`, code } }),
  };
}
