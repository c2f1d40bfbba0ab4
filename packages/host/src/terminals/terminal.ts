/** One terminal: a process, the channel that shows it, and what flows between them. */
import type { TerminalAction, TerminalClaim, TerminalInfo, TerminalState } from '@atrium/protocol';
import { PassingChannel } from '../channels/passing-channel.js';
import { systemClock } from '../clock.js';
import type { HostCore } from '../core.js';
import { succeedsWithin } from '../waiting.js';
import { ClientActions } from './client-actions.js';
import { CommandTracker } from './command-tracker.js';
import type { Ending } from './end-processes.js';
import { Flow } from './flow.js';
import { Labels } from './labels.js';
import { EXIT_MAX_MS } from './limits.js';
import { OscSplitter, type Piece } from './osc-splitter.js';
import type { Pty, PtyEvents, PtyExit } from './pty.js';
import { reduceBounded } from './scrollback.js';
import { type Signal, signalOf } from './signals.js';
import { type TerminalEnd, TerminalProcess } from './terminal-process.js';

export interface TerminalOptions {
  readonly core: HostCore;
  readonly uri: string;
  readonly initial: TerminalState;
  /** A person chose its title. */
  readonly isNamed: boolean;
  /** A tool runs its command here. */
  readonly isOfTool: boolean;
  /** What marks of its shell carry. */
  readonly nonce: string | undefined;
  /** How what runs here is ended. */
  readonly ending: Ending;
  readonly spawn: (events: PtyEvents) => Pty;
  /** What the catalogue says of it may have changed. */
  readonly changed: () => void;
}

/** What a shell says of a program that a signal ended. */
const SIGNALLED = 128;

export class Terminal {
  readonly channel: PassingChannel<TerminalState>;
  readonly #options: TerminalOptions;
  readonly #splitter = new OscSplitter();
  readonly #clients: ClientActions;
  readonly #commands: CommandTracker;
  readonly #flow: Flow;
  readonly #labels: Labels;
  readonly #process: TerminalProcess;
  #isNamed: boolean;
  /** Somebody else listens: the tool whose command runs here. */
  onOutput: ((text: string) => void) | undefined;
  onUnclaimed: ((claim: TerminalClaim) => void) | undefined;

  constructor(options: TerminalOptions) {
    const { core, uri, initial } = options;
    this.#options = options;
    this.#isNamed = options.isNamed;
    this.channel = new PassingChannel({
      core,
      uri,
      initial,
      reduce: reduceBounded,
      refusal: (action, clientId) => this.#clients.refusal(action, clientId),
      taken: (action) => this.#clients.taken(action),
    });
    this.#clients = this.#makeClients(core);
    this.#commands = new CommandTracker(core.clock);
    this.#flow = this.#makeFlow(core);
    this.#labels = new Labels({
      clock: core.clock,
      state: () => this.state,
      act: (actions) => this.#flow.act(...actions),
      isNamed: () => this.#isNamed,
    });
    this.#process = new TerminalProcess({
      spawn: options.spawn,
      ending: options.ending,
      output: (text) => this.#output(this.#splitter.push(text)),
      exited: (exit) => this.#exited(exit),
    });
  }

  #makeClients(core: HostCore): ClientActions {
    return new ClientActions({
      writer: core.writer,
      state: () => this.state,
      process: () => this.#process,
      isSession: (uri) => core.sessions.has(uri),
      changed: ({ type }) => {
        this.#isNamed ||= type === 'terminal/titleChanged';
        this.#options.changed();
      },
      unclaimed: (claim) => this.onUnclaimed?.(claim),
    });
  }

  #makeFlow(core: HostCore): Flow {
    return new Flow({
      clock: core.clock,
      writer: core.writer,
      write: (actions) => this.#write(actions),
      unsent: () => core.unsentTo(this.uri),
      pause: () => this.#process.pty.pause(),
      resume: () => this.#process.pty.resume(),
    });
  }

  get uri(): string {
    return this.channel.uri;
  }

  get state(): TerminalState {
    return this.channel.state;
  }

  get pid(): number {
    return this.#process.pty.pid;
  }

  get hasExited(): boolean {
    return this.#process.hasExited;
  }

  /** Resolves when the process has ended, and all that it started with it. */
  get ended(): Promise<TerminalEnd> {
    return this.#process.ended;
  }

  get isOfTool(): boolean {
    return this.#options.isOfTool;
  }

  get info(): TerminalInfo {
    const { title, claim, exitCode } = this.state;
    return { resource: this.uri, title, claim, ...(exitCode !== undefined && { exitCode }) };
  }

  /** The command that a tool runs here; its output is all that comes from now on. */
  beginCommand(commandId: string, commandLine: string): void {
    this.#flow.act(...this.#commands.executed(commandLine, commandId));
  }

  claim(claim: TerminalClaim): void {
    this.#flow.act({ type: 'terminal/claimed', claim });
  }

  /** Resolves when all that has happened so far is stored. */
  settled(): Promise<void> {
    return this.#flow.drained();
  }

  /** Ends all that runs here, and returns when it is gone and everybody may know. */
  async end(): Promise<void> {
    await this.#process.end();
    await succeedsWithin(systemClock, EXIT_MAX_MS, this.#flow.drained());
  }

  /** Nothing more is said here. */
  close(): void {
    this.#labels.stop();
    this.#flow.stop();
  }

  #output(pieces: readonly Piece[]): void {
    for (const piece of pieces) {
      if (piece.kind === 'text') this.#text(piece.text);
      else this.#signal(signalOf(piece.code, piece.body, this.#options.nonce));
    }
  }

  #text(text: string): void {
    this.#commands.text(text);
    this.#flow.output(text);
    this.onOutput?.(text);
  }

  #signal(signal: Signal | undefined): void {
    if (signal?.kind === 'title') this.#labels.title(signal.title);
    else if (signal?.kind === 'cwd') this.#labels.cwd(signal.path);
    else if (signal?.kind === 'over') this.#process.over({ exitCode: signal.exitCode, signal: undefined });
    else if (signal) this.#flow.act(...this.#commands.signal(signal));
  }

  #exited(exit: PtyExit): void {
    this.#output(this.#splitter.end());
    const exitCode = exit.signal ? SIGNALLED + exit.signal.number : exit.exitCode;
    this.#flow.act(...this.#commands.finished(exitCode), { type: 'terminal/exited', exitCode });
  }

  #write(actions: readonly TerminalAction[]): void {
    for (const action of actions) this.channel.write(action);
    if (actions.some(({ type }) => type !== 'terminal/data')) this.#options.changed();
  }
}
