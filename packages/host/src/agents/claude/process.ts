/** The program that runs one turn: started for it, and gone with it, with all that it started. */
import { type ChildProcess, spawn } from 'node:child_process';
import { systemClock } from '../../clock.js';
import { endGroup } from '../../tools/end-group.js';
import { killOnExit } from '../../tools/process-group.js';
import { groupsOfFamily } from '../../tools/process-table.js';
import { succeedsWithin } from '../../waiting.js';
import { KILL_GRACE_MS, LAST_WORDS_MAX_CHARACTERS } from './limits.js';
import type { SpawnRequest } from './sdk.js';

export class TurnProcess {
  #pid: number | undefined;
  #exited: Promise<void> = Promise.resolve();
  #words = '';
  /** Claude runs every command in a group of its own, so these are more than one. */
  readonly #groups = new Set<number>();

  /** Given to the SDK, which talks to it. */
  readonly start = ({ command, args, cwd, env }: SpawnRequest): ChildProcess => {
    const own = { detached: process.platform !== 'win32', windowsHide: true };
    const child = spawn(command, args, { cwd, env, ...own, stdio: ['pipe', 'pipe', 'pipe'] });
    this.#pid = child.pid;
    this.#exited = new Promise((resolve) => {
      child.once('exit', () => resolve());
      child.once('error', () => resolve());
    });
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

  /** Looks who belongs to it: once it has ended, nobody can tell any more. */
  async noteFamily(): Promise<void> {
    if (this.#pid === undefined) return;
    for (const group of await groupsOfFamily(this.#pid)) this.#groups.add(group);
  }

  /** Waits for its end, and brings it about when it takes too long. Nobody of its family is left then. */
  async end(maxMs: number): Promise<void> {
    await this.noteFamily();
    if (!(await succeedsWithin(systemClock, maxMs, this.#exited))) await this.noteFamily();
    await Promise.all([...this.#groups].map((group) => endGroup(group, systemClock, KILL_GRACE_MS)));
    await this.#exited;
  }
}
