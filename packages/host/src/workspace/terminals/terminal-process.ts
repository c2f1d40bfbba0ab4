/** The process of a terminal and everything that it starts, from its beginning to the end of the last one. */
import { systemClock } from '@atrium/core/util/clock.js';
import { GROUP_KILL_MAX_MS, GROUP_POLL_MS, inTerminal, signalGroup } from '@atrium/core/util/processes.js';
import { succeedsWithin } from '@atrium/core/util/waiting.js';
import type { Pty, PtyEvents, PtyExit } from './pty.js';

/** Between hanging up and killing. */
export const HANGUP_GRACE_MS = 1_000;
/** How long a process that was killed may take to be gone; one that hangs in a driver is not waited for longer. */
export const EXIT_MAX_MS = 2_000;

/** The process of a terminal and all that it starts: from its beginning to the end of the last one. */
export interface TerminalEnd extends PtyExit {
  /** The process had left others behind, which were ended. */
  readonly strays: boolean;
}

interface TerminalProcessOptions {
  readonly spawn: (events: PtyEvents) => Pty;
  /** How its processes are ended. */
  readonly ending: Ending;
  output(text: string): void;
  /** Called once, when nothing more comes. */
  exited(exit: PtyExit): void;
}

export class TerminalProcess {
  readonly pty: Pty;
  /** Resolves when the process has ended, and all that it started with it. */
  readonly ended: Promise<TerminalEnd>;
  readonly #options: TerminalProcessOptions;
  #resolve: (end: Promise<TerminalEnd>) => void = () => {};
  #hasExited = false;
  #ending: Promise<boolean> | undefined;

  constructor(options: TerminalProcessOptions) {
    this.#options = options;
    this.ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.pty = options.spawn({
      output: (text) => options.output(text),
      exited: (exit) => this.over(exit),
    });
  }

  get hasExited(): boolean {
    return this.#hasExited;
  }

  /** It is over. A command that is held says so before its process ends: the first word counts. */
  over(exit: PtyExit): void {
    if (this.#hasExited) return;
    this.#hasExited = true;
    this.#options.exited(exit);
    this.#resolve(this.#endRest(exit));
  }

  /** Jobs that outlive their shell end with the terminal, too. */
  async #endRest(exit: PtyExit): Promise<TerminalEnd> {
    return { ...exit, strays: await this.#endAll() };
  }

  /** Ends all that runs here, and returns when it is gone. */
  async end(): Promise<void> {
    if (!this.#hasExited) await this.#endAll();
    await succeedsWithin(systemClock, EXIT_MAX_MS, this.ended);
  }

  /** Once: the number of a process that has ended may soon be that of another. Says whether there were strays. */
  #endAll(): Promise<boolean> {
    const { pty } = this;
    this.#ending ??= process.platform === 'win32' ? killTree(pty) : endProcesses(pty.pid, this.#options.ending);
    return this.#ending;
  }
}

export interface Ending {
  /** How it is asked first. */
  readonly signal: 'SIGHUP' | 'SIGTERM';
  /** Processes live in real time, whatever the clock of the host says. */
  readonly graceMs: number;
}

/**
 * Ends all that runs in a terminal: the shell, its jobs, and their children. First by asking, then by force. Returns
 * when everything is gone. Returns whether a process ran on although its parent had ended.
 */
async function endProcesses(leader: number, { signal, graceMs }: Ending): Promise<boolean> {
  const { groups, hasStrays } = await inTerminal(leader);
  for (const group of groups) {
    signalGroup(group, signal);
    // One that is stopped would hear of it only when it goes on.
    signalGroup(group, 'SIGCONT');
  }
  if (await areGone(leader, groups, graceMs)) return hasStrays;
  for (const group of (await inTerminal(leader, groups)).groups) signalGroup(group, 'SIGKILL');
  await areGone(leader, groups, GROUP_KILL_MAX_MS);
  return hasStrays;
}

/** Looking into the table of processes takes a while, which counts. */
async function areGone(leader: number, groups: ReadonlySet<number>, milliseconds: number): Promise<boolean> {
  const limit = performance.now() + milliseconds;
  for (;;) {
    // Most are gone in a moment.
    await new Promise<void>((resolve) => systemClock.after(Math.min(GROUP_POLL_MS, milliseconds), resolve));
    if ((await inTerminal(leader, groups)).groups.size === 0) return true;
    if (performance.now() > limit) return false;
  }
}

async function killTree(pty: Pty): Promise<boolean> {
  pty.kill();
  return false;
}
