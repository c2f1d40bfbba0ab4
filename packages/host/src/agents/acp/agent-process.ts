/** The process of an agent: the leader of a group of its own, so that launchers and their children end together. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { access } from 'node:fs/promises';
import { AgentError } from '../../core/contracts/agent.js';
import { systemClock } from '../../core/util/clock.js';
import { endGroup, killOnExit } from '../../core/util/processes.js';
import { Tail } from '../../core/util/tail.js';
import { succeedsWithin } from '../../core/util/waiting.js';
import { END_GRACE_MS, EXIT_MAX_MS, LAST_WORDS_MAX_MS, STDERR_TAIL_BYTES } from './limits.js';

export interface AgentCommand {
  readonly displayName: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

export class AgentProcess {
  /** Fulfilled when the command has ended, with how: "ended with code 3". */
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
    // What it started may outlive it; nobody else would end that.
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
    // Without a listener, a broken pipe would end the host.
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

  /** The last words of its error output, as a part of a sentence; empty when there are none. */
  get lastWords(): string {
    const words = this.#errors.text().trim();
    return words === '' ? '' : `. It said: ${words}`;
  }

  /** Ends it and all that it started: politely, then not. Fulfilled when nobody is left. */
  end(graceMs = END_GRACE_MS): Promise<void> {
    this.#ending ??= this.#end(graceMs);
    return this.#ending;
  }

  async #end(graceMs: number): Promise<void> {
    await endGroup(this.#pid, systemClock, graceMs);
    await succeedsWithin(systemClock, EXIT_MAX_MS, this.exited);
    // A process that left the group may hold the pipes; it is not listened to any more.
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) stream.destroy();
  }
}

/** How it ended, once its last words have come, unless somebody else holds the pipes. */
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
  const why = error instanceof Error ? error.message : String(error);
  return new AgentError('agent-missing', `${displayName} cannot start: ${why}. Check its command: ${command}`);
}
