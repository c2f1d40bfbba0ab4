/** The program that runs one turn: started for it, and gone with it, with all that it started. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { systemClock } from '../../core/util/clock.js';
import { endGroup, groupsOfFamily, groupsWith, killOnExit } from '../../core/util/processes.js';
import { succeedsWithin } from '../../core/util/waiting.js';
import { KILL_GRACE_MS, LAST_WORDS_MAX_CHARACTERS } from './limits.js';
import type { SpawnRequest } from './sdk.js';

/** In the environment of all that runs for a turn, so that it is found wherever it went. */
const TURN_VARIABLE = 'AGENT_TURN_ID';

export class TurnProcess {
  readonly #mark = randomUUID();
  #pid: number | undefined;
  #exited: Promise<void> = Promise.resolve();
  #words = '';
  /** Claude runs every command in a group of its own, so these are more than one. */
  readonly #groups = new Set<number>();

  /** Given to the SDK, which talks to it. */
  readonly start = ({ command, args, cwd, env }: SpawnRequest): ChildProcess => {
    const own = { detached: process.platform !== 'win32', windowsHide: true };
    const marked = { ...env, [TURN_VARIABLE]: this.#mark };
    const child = spawn(command, args, { cwd, env: marked, ...own, stdio: ['pipe', 'pipe', 'pipe'] });
    this.#pid = child.pid;
    this.#exited = new Promise((resolve) => {
      child.once('exit', () => resolve());
      child.on('error', () => resolve());
    });
    // Without a listener, a broken pipe would end the host.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', () => {});
    if (child.pid !== undefined) void this.#exited.finally(killOnExit(child.pid));
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#words = (this.#words + text).slice(-LAST_WORDS_MAX_CHARACTERS);
    });
    return child;
  };

  /** What it last complained about. */
  get lastWords(): string {
    return this.#words.trim();
  }

  /**
   * Waits for its end, and brings it about when it takes too long. Nobody of its family is left then. After a turn that
   * was cancelled that includes those who left the family, on systems that tell.
   */
  async end(maxMs: number, isCancelled = false): Promise<void> {
    if (this.#pid === undefined) return;
    await this.#noteFamily(this.#pid);
    if (!(await succeedsWithin(systemClock, maxMs, this.#exited))) await this.#noteFamily(this.#pid);
    if (isCancelled) for (const group of await groupsWith(TURN_VARIABLE, this.#mark)) this.#groups.add(group);
    await Promise.all([...this.#groups].map((group) => endGroup(group, systemClock, KILL_GRACE_MS)));
    await this.#exited;
  }

  /** Looks who belongs to it: once it has ended, that cannot be told any more. */
  async #noteFamily(pid: number): Promise<void> {
    for (const group of await groupsOfFamily(pid)) this.#groups.add(group);
  }
}
