/** The process of a terminal and all that it starts: from its beginning to the end of the last one. */
import { systemClock } from '../../core/util/clock.js';
import { succeedsWithin } from '../../core/util/waiting.js';
import { type Ending, endProcesses } from './end-processes.js';
import { EXIT_MAX_MS } from './limits.js';
import type { Pty, PtyEvents, PtyExit } from './pty.js';

export interface TerminalEnd extends PtyExit {
  /** The process had left others behind, which were ended. */
  readonly strays: boolean;
}

export interface TerminalProcessOptions {
  readonly spawn: (events: PtyEvents) => Pty;
  /** How what runs here is ended. */
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

async function killTree(pty: Pty): Promise<boolean> {
  pty.kill();
  return false;
}
