/** The process of a terminal and everything that it starts, from the first start to the last exit. */
import { systemClock } from '@atrium/core/util/clock.js';
import { GROUP_KILL_MAX_MS, GROUP_POLL_MS, inTerminal, signalGroup } from '@atrium/core/util/processes.js';
import { succeedsWithin } from '@atrium/core/util/waiting.js';
import type { Pty, PtyEvents, PtyExit } from './pty.js';

/** The time between hanging up and killing. */
export const HANGUP_GRACE_MS = 1_000;
/** How long a killed process may take to disappear; one that hangs in a driver is not waited for longer. */
export const EXIT_MAX_MS = 2_000;

/** The process of a terminal and all its descendants. */
export interface TerminalEnd extends PtyExit {
  /** Whether the process had left others behind, which were ended. */
  readonly strays: boolean;
}

interface TerminalProcessOptions {
  readonly spawn: (events: PtyEvents) => Pty;
  /** How its processes are ended. */
  readonly ending: Ending;
  output(text: string): void;
  /** Called once, when the process has ended and all output has been read. */
  exited(exit: PtyExit): void;
}

export class TerminalProcess {
  readonly pty: Pty;
  /** Resolves when the process and everything that it started have ended. */
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

  /**
   * The command has ended. A command in a holder process reports that before its process ends; the first report counts.
   */
  over(exit: PtyExit): void {
    if (this.#hasExited) return;
    this.#hasExited = true;
    this.#options.exited(exit);
    this.#resolve(this.#endRest(exit));
  }

  /** Jobs that outlive their shell end with the terminal. */
  async #endRest(exit: PtyExit): Promise<TerminalEnd> {
    return { ...exit, strays: await this.#endAll() };
  }

  /** Ends everything that runs here, and resolves when it has ended. */
  async end(): Promise<void> {
    if (!this.#hasExited) await this.#endAll();
    await succeedsWithin(systemClock, EXIT_MAX_MS, this.ended);
  }

  /** Runs once, because the id of an ended process may soon belong to another. Returns whether there were strays. */
  #endAll(): Promise<boolean> {
    const { pty } = this;
    this.#ending ??= process.platform === 'win32' ? killTree(pty) : endProcesses(pty.pid, this.#options.ending);
    return this.#ending;
  }
}

export interface Ending {
  /** The signal that asks the processes to end. */
  readonly signal: 'SIGHUP' | 'SIGTERM';
  /** In real time even if the host's clock is a fake, because processes run in real time. */
  readonly graceMs: number;
}

/**
 * Ends everything in a terminal: the shell, its jobs, and their children, first with a request, then with a kill.
 * Resolves when all are gone, and returns whether a process had outlived its parent.
 */
async function endProcesses(leader: number, { signal, graceMs }: Ending): Promise<boolean> {
  const { groups, hasStrays } = await inTerminal(leader);
  for (const group of groups) {
    signalGroup(group, signal);
    // A stopped process handles the signal only after it continues.
    signalGroup(group, 'SIGCONT');
  }
  if (await areGone(leader, groups, graceMs)) return hasStrays;
  for (const group of (await inTerminal(leader, groups)).groups) signalGroup(group, 'SIGKILL');
  await areGone(leader, groups, GROUP_KILL_MAX_MS);
  return hasStrays;
}

/** Reading the process table takes time, which counts towards the limit. */
async function areGone(leader: number, groups: ReadonlySet<number>, milliseconds: number): Promise<boolean> {
  const limit = performance.now() + milliseconds;
  for (;;) {
    // Most processes are gone in a moment.
    await new Promise<void>((resolve) => systemClock.after(Math.min(GROUP_POLL_MS, milliseconds), resolve));
    if ((await inTerminal(leader, groups)).groups.size === 0) return true;
    if (performance.now() > limit) return false;
  }
}

async function killTree(pty: Pty): Promise<boolean> {
  pty.kill();
  return false;
}
