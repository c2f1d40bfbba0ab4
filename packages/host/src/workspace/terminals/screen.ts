/**
 * What the programs of a terminal write: text for everybody, and between it what is meant for the terminal itself, such as
 * a new title, or the marks of a shell around its commands.
 */
import type { TerminalState } from '@atrium/protocol';
import type { Clock } from '../../core/util/clock.js';
import { CommandTracker } from './command-tracker.js';
import type { Flow } from './flow.js';
import { Labels } from './labels.js';
import { OscSplitter, type Piece } from './osc-splitter.js';
import { type Signal, signalOf } from './signals.js';

export interface ScreenOptions {
  readonly clock: Clock;
  /** Where it goes from here. */
  readonly flow: Flow;
  /** What marks of its shell carry. */
  readonly nonce: string | undefined;
  state(): TerminalState;
  /** A person gave it a name. */
  isNamed(): boolean;
  /** The command that the terminal was opened for is over. */
  over(exitCode: number): void;
}

export class Screen {
  readonly #options: ScreenOptions;
  readonly #splitter = new OscSplitter();
  readonly #commands: CommandTracker;
  readonly #labels: Labels;
  /** Somebody else listens: the tool whose command runs here. */
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

  /** The command that a tool runs here; its output is all that comes from now on. */
  beginCommand(commandId: string, commandLine: string): void {
    this.#options.flow.act(...this.#commands.executed(commandLine, commandId));
  }

  /** Nothing more comes. */
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
