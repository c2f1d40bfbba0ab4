/** The process of an agent. It leads a process group, so that launchers and their children end together. */

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { access } from 'node:fs/promises';
import { AgentError } from '@atrium/core/contracts/agent.js';
import { systemClock } from '@atrium/core/util/clock.js';
import { endGroup, killOnExit } from '@atrium/core/util/processes.js';
import { Tail } from '@atrium/core/util/streams.js';
import { errorText } from '@atrium/core/util/text.js';
import { succeedsWithin } from '@atrium/core/util/waiting.js';

/** Time between asking a process to end and killing it. */
const END_GRACE_MS = 1_500;
/** How long a process that has ended may take to report how it ended. */
export const EXIT_MAX_MS = 1_000;
/** How long to wait for more output after a process has ended. */
const LAST_WORDS_MAX_MS = 200;
/** How much of the end of its error output is kept, for the message that says why it failed. */
const STDERR_TAIL_BYTES = 4 * 2 ** 10;

export interface AgentCommand {
  readonly displayName: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

export class AgentProcess {
  /** Resolves when the command has ended, with how it ended: "ended with code 3". */
  readonly exited: Promise<string>;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #pid: number;
  readonly #errors = new Tail(STDERR_TAIL_BYTES);
  #ending: Promise<void> | undefined;

  private constructor(child: ChildProcessWithoutNullStreams, pid: number) {
    this.#child = child;
    this.#pid = pid;
    child.stderr.setEncoding('utf8').on('data', (text) => this.#errors.push(text));
    this.exited = exitOf(child);
    const forget = killOnExit(pid);
    // End the rest of the group, too: processes that the command started may outlive it.
    void this.exited.then(() => this.end()).finally(forget);
  }

  static async start(what: AgentCommand): Promise<AgentProcess> {
    const { command, args, env, cwd } = what;
    let child: ChildProcessWithoutNullStreams;
    try {
      child = spawn(command, [...args], { cwd, env, detached: process.platform !== 'win32', windowsHide: true });
    } catch (error) {
      throw await notStarted(what, error);
    }
    // Without a listener, a broken pipe would crash the host.
    for (const emitter of [child, child.stdin, child.stdout, child.stderr]) emitter.on('error', () => {});
    if (child.pid === undefined)
      throw await notStarted(what, await new Promise((resolve) => child.once('error', resolve)));
    return new AgentProcess(child, child.pid);
  }

  get stdin() {
    return this.#child.stdin;
  }

  get stdout() {
    return this.#child.stdout;
  }

  /** The end of its error output, as part of a sentence; empty when there is none. */
  get lastWords(): string {
    const words = this.#errors.text().trim();
    return words === '' ? '' : `. It said: ${words}`;
  }

  /** Asks the whole group to end, and kills what is left after the grace period. Resolves when the group is gone. */
  end(graceMs = END_GRACE_MS): Promise<void> {
    this.#ending ??= this.#end(graceMs);
    return this.#ending;
  }

  async #end(graceMs: number): Promise<void> {
    await endGroup(this.#pid, systemClock, graceMs);
    await succeedsWithin(systemClock, EXIT_MAX_MS, this.exited);
    // A process that left the group may still hold the pipes.
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) stream.destroy();
  }
}

/** How the process ended. Waits for the rest of its output, but not for other processes that hold the pipes. */
function exitOf(child: ChildProcessWithoutNullStreams): Promise<string> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => {
      const how = code === null ? `was ended by ${signal}` : `ended with code ${code}`;
      const timer = setTimeout(() => resolve(how), LAST_WORDS_MAX_MS);
      child.once('close', () => {
        clearTimeout(timer);
        resolve(how);
      });
    });
  });
}

async function notStarted({ displayName, command, cwd }: AgentCommand, error: unknown): Promise<AgentError> {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const isFolderThere = await access(cwd).then(
    () => true,
    () => false,
  );
  if (!isFolderThere) return new AgentError('agent-missing', `${displayName} cannot start: there is no folder ${cwd}`);
  if (code === 'ENOENT') {
    return new AgentError(
      'agent-missing',
      `${displayName} cannot start: command not found: ${command}. Is it installed?`,
    );
  }
  const why = errorText(error);
  return new AgentError('agent-missing', `${displayName} cannot start: ${why}. Check its command: ${command}`);
}
