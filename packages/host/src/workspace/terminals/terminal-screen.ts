/**
 * Turns the output of a terminal's process into what clients show: text, commands with their results, title and folder.
 */
import { pathToFileURL } from 'node:url';
import type { Clock } from '@atrium/core/util/clock.js';
import { plainText } from '@atrium/core/util/plain-text.js';
import { throttle } from '@atrium/core/util/scheduling.js';
import type { TerminalAction, TerminalState } from '@atrium/protocol/ahp-1';
import { OscSplitter, type Piece, type Signal, signalOf } from './osc-sequences.js';
import type { Flow } from './output-flow.js';

/** How much text of a prompt and the typed line is remembered. */
const TYPED_MAX_CHARACTERS = 8 * 2 ** 10;
/** How often a program may change the visible title or folder. */
const LABELS_EVERY_MS = 200;

/**
 * Options of a screen, which receives text and, between it, sequences for the terminal itself, such as a new title or
 * the marks that a shell puts around its commands.
 */
export interface ScreenOptions {
  readonly clock: Clock;
  /** Receives the actions for the output. */
  readonly flow: Flow;
  /** The secret that the marks of its shell carry. */
  readonly nonce: string | undefined;
  state(): TerminalState;
  /** Whether a person named it. */
  isNamed(): boolean;
  /** The command that the terminal was opened for is over. */
  over(exitCode: number): void;
}

export class Screen {
  readonly #options: ScreenOptions;
  readonly #splitter = new OscSplitter();
  readonly #commands: CommandTracker;
  readonly #labels: Labels;
  /** For the tool whose command runs here. */
  onOutput: ((text: string) => void) | undefined;

  constructor(options: ScreenOptions) {
    const { clock, flow, state, isNamed } = options;
    this.#options = options;
    this.#commands = new CommandTracker(clock);
    this.#labels = new Labels({ clock, state, isNamed, act: (actions) => flow.act(...actions) });
  }

  write(text: string): void {
    this.#show(this.#splitter.push(text));
  }

  /** A tool's command begins: all further output belongs to it. */
  beginCommand(commandId: string, commandLine: string): void {
    this.#options.flow.act(...this.#commands.executed(commandLine, commandId));
  }

  /** The process has ended, and all its output has been written. */
  end(exitCode: number): void {
    this.#show(this.#splitter.end());
    this.#options.flow.act(...this.#commands.finished(exitCode), { type: 'terminal/exited', exitCode });
  }

  stop(): void {
    this.#labels.stop();
  }

  #show(pieces: readonly Piece[]): void {
    for (const piece of pieces) {
      if (piece.kind === 'text') this.#text(piece.text);
      else this.#signal(signalOf(piece.code, piece.body, this.#options.nonce));
    }
  }

  #text(text: string): void {
    this.#commands.text(text);
    this.#options.flow.output(text);
    this.onOutput?.(text);
  }

  #signal(signal: Signal | undefined): void {
    if (signal?.kind === 'title') this.#labels.title(signal.title);
    else if (signal?.kind === 'cwd') this.#labels.cwd(signal.path);
    else if (signal?.kind === 'over') this.#options.over(signal.exitCode);
    else if (signal) this.#options.flow.act(...this.#commands.signal(signal));
  }
}

interface Running {
  readonly commandId: string;
  readonly startedAt: number;
}

/** Derives commands from the marks of a shell: when one began, its command line, and how it ended. */
class CommandTracker {
  readonly #clock: Clock;
  #running: Running | undefined;
  #commands = 0;
  #isAvailable = false;
  /** The output since the last prompt: the prompt itself, and the line that a person typed. */
  #typed = '';

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  text(text: string): void {
    if (this.#isAvailable && !this.#running) this.#typed = (this.#typed + text).slice(-TYPED_MAX_CHARACTERS);
  }

  signal(signal: Signal): TerminalAction[] {
    if (signal.kind === 'prompt') return this.#prompt();
    if (signal.kind === 'executed') return this.executed(this.#lineOf(signal));
    return signal.kind === 'finished' ? this.finished(signal.exitCode) : [];
  }

  #prompt(): TerminalAction[] {
    this.#typed = '';
    if (this.#isAvailable) return [];
    this.#isAvailable = true;
    return [{ type: 'terminal/commandDetectionAvailable' }];
  }

  executed(commandLine: string, commandId = `command-${++this.#commands}`): TerminalAction[] {
    const before = this.finished(undefined);
    const timestamp = this.#clock.now();
    this.#isAvailable = true;
    this.#running = { commandId, startedAt: timestamp };
    return [...before, { type: 'terminal/commandExecuted', commandId, commandLine, timestamp }];
  }

  /** Ends the running command; does nothing if none runs, as at the first prompt. */
  finished(exitCode: number | undefined): TerminalAction[] {
    if (!this.#running) return [];
    const { commandId, startedAt } = this.#running;
    this.#running = undefined;
    const durationMs = Math.max(0, this.#clock.now() - startedAt);
    return [{ type: 'terminal/commandFinished', commandId, durationMs, ...(exitCode !== undefined && { exitCode }) }];
  }

  /**
   * A shell that keeps some lines out of its history reports the last one in it. That line counts only if it was just
   * typed.
   */
  #lineOf({ commandLine, isSure }: Extract<Signal, { kind: 'executed' }>): string {
    return isSure || plainText(this.#typed).includes(commandLine) ? commandLine : '';
  }
}

/**
 * Options for the title and the folder of a terminal, which its programs set. Frequent changes are shown at intervals.
 */
interface LabelsOptions {
  readonly clock: Clock;
  state(): TerminalState;
  act(actions: readonly TerminalAction[]): void;
  /** Whether a person named the terminal; if so, programs cannot rename it. */
  isNamed(): boolean;
}

class Labels {
  readonly #options: LabelsOptions;
  readonly #shown;
  #title: string | undefined;
  #cwd: string | undefined;

  constructor(options: LabelsOptions) {
    this.#options = options;
    this.#shown = throttle(options.clock, LABELS_EVERY_MS, () => this.#show());
  }

  title(title: string): void {
    if (title === '') return;
    this.#title = title;
    this.#shown.request();
  }

  cwd(path: string): void {
    if (!path.startsWith('/') && process.platform !== 'win32') return;
    this.#cwd = pathToFileURL(path).href;
    this.#shown.request();
  }

  stop(): void {
    this.#shown.stop();
  }

  #show(): void {
    const { state, act, isNamed } = this.#options;
    const title = isNamed() ? undefined : this.#title;
    const cwd = this.#cwd;
    this.#title = undefined;
    this.#cwd = undefined;
    const { title: oldTitle, cwd: oldCwd } = state();
    act([
      ...(title !== undefined && title !== oldTitle ? [{ type: 'terminal/titleChanged', title } as const] : []),
      ...(cwd !== undefined && cwd !== oldCwd ? [{ type: 'terminal/cwdChanged', cwd } as const] : []),
    ]);
  }
}
