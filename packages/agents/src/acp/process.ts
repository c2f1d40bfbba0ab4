/** The process of an agent. It leads a process group, so that launchers and their children end together. */

import { access } from 'node:fs/promises';
import { AgentError } from '@atrium/core/contracts/agent.js';
import { type Program, type ProgramExit, type StartProgram, startProgram } from '@atrium/core/util/programs.js';
import { Tail } from '@atrium/core/util/streams.js';
import { errorText } from '@atrium/core/util/text.js';

/** Time between asking a process to end and killing it. */
const END_GRACE_MS = 1_500;
/** How much of the end of its error output is kept, for the message that says why it failed. */
const STDERR_TAIL_BYTES = 4 * 2 ** 10;

export interface AgentCommand {
  readonly displayName: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the environment of the machine. */
  readonly env: Readonly<Record<string, string>>;
  /** Absent: a temporary folder. */
  readonly cwd: string | undefined;
  /** Starts it elsewhere than on this machine. */
  readonly startProgram?: StartProgram | undefined;
}

export class AgentProcess {
  /** Resolves when the command has ended, with how it ended: "ended with code 3". */
  readonly exited: Promise<string>;
  readonly #program: Program;
  readonly #errors = new Tail(STDERR_TAIL_BYTES);
  #ending: Promise<void> | undefined;
  #lost: string | undefined;

  private constructor(program: Program) {
    this.#program = program;
    program.stderr.setEncoding('utf8').on('data', (text) => this.#errors.push(text));
    this.exited = program.exited.then((exit) => {
      this.#lost = exit.lost;
      return howItEnded(exit);
    });
    // End the rest of the group, too: processes that the command started may outlive it.
    void this.exited.then(() => this.end());
  }

  static async start(what: AgentCommand): Promise<AgentProcess> {
    const { command, args, env, cwd } = what;
    try {
      return new AgentProcess(await (what.startProgram ?? startProgram)({ command, args, env, cwd }));
    } catch (error) {
      throw await notStarted(what, error);
    }
  }

  /** Set once the process is lost together with the host on which it ran: what happened. */
  get lost(): string | undefined {
    return this.#lost;
  }

  get stdin() {
    return this.#program.stdin;
  }

  get stdout() {
    return this.#program.stdout;
  }

  /** The end of its error output, as part of a sentence; empty when there is none. */
  get stderrTail(): string {
    const words = this.#errors.text().trim();
    return words === '' ? '' : `. It said: ${words}`;
  }

  /** The port on the process's machine that leads to a port of this one. */
  reach(port: number): Promise<number> {
    return this.#program.reach(port);
  }

  /** Asks the whole group to end, and kills what is left after the grace period. Resolves when the group is gone. */
  end(graceMs = END_GRACE_MS): Promise<void> {
    this.#ending ??= this.#program.end(graceMs);
    return this.#ending;
  }
}

function howItEnded({ code, signal, lost }: ProgramExit): string {
  if (lost !== undefined) return `was lost: ${lost}`;
  return code === null ? `was ended by ${signal}` : `ended with code ${code}`;
}

async function notStarted({ displayName, command, cwd }: AgentCommand, error: unknown): Promise<AgentError> {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const isFolderThere =
    cwd === undefined ||
    (await access(cwd).then(
      () => true,
      () => false,
    ));
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
