/** The program that runs one turn. It ends with the turn, and so do all processes that it started. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { systemClock } from '@atrium/core/util/clock.js';
import { endGroup, groupsOfFamily, groupsWith, killOnExit } from '@atrium/core/util/processes.js';
import { succeedsWithin } from '@atrium/core/util/waiting.js';
import type { SpawnRequest } from './sdk.js';

/** Time between asking the remaining processes to end and killing them. */
const KILL_GRACE_MS = 50;
/** How much of the end of the program's error output an error message quotes. */
const STDERR_TAIL_CHARACTERS = 2_000;

/**
 * This variable is in the environment of every process of a turn, so that the host finds those that left the process
 * group.
 */
const TURN_VARIABLE = 'AGENT_TURN_ID';

export class ClaudeProcess {
  readonly #mark = randomUUID();
  #pid: number | undefined;
  #exited: Promise<void> = Promise.resolve();
  #stderr = '';
  /** Claude runs every command in its own group, so there are several. */
  readonly #groups = new Set<number>();

  /** The SDK calls this to start the program. */
  readonly start = ({ command, args, cwd, env }: SpawnRequest): ChildProcess => {
    const own = { detached: process.platform !== 'win32', windowsHide: true };
    const marked = { ...env, [TURN_VARIABLE]: this.#mark };
    const child = spawn(command, args, { cwd, env: marked, ...own, stdio: ['pipe', 'pipe', 'pipe'] });
    this.#pid = child.pid;
    this.#exited = new Promise((resolve) => {
      child.once('exit', () => resolve());
      child.on('error', () => resolve());
    });
    // Without a listener, a broken pipe would crash the host.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', () => {});
    if (child.pid !== undefined) void this.#exited.finally(killOnExit(child.pid));
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_TAIL_CHARACTERS);
    });
    return child;
  };

  /** The end of its error output. */
  get stderrTail(): string {
    return this.#stderr.trim();
  }

  /**
   * Waits for the program to end, kills it if that takes too long, and ends its descendants. After a cancelled turn it
   * also ends processes that are no longer descendants, on systems that show the environment of processes.
   */
  async end(maxMs: number, isCancelled = false): Promise<void> {
    if (this.#pid === undefined) return;
    await this.#noteFamily(this.#pid);
    if (!(await succeedsWithin(systemClock, maxMs, this.#exited))) await this.#noteFamily(this.#pid);
    if (isCancelled) for (const group of await groupsWith(TURN_VARIABLE, this.#mark)) this.#groups.add(group);
    await Promise.all([...this.#groups].map((group) => endGroup(group, systemClock, KILL_GRACE_MS)));
    await this.#exited;
  }

  /** Records the descendants while the program runs; afterwards, the system no longer knows them. */
  async #noteFamily(pid: number): Promise<void> {
    for (const group of await groupsOfFamily(pid)) this.#groups.add(group);
  }
}
