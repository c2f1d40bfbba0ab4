/** One terminal: a process, the channel that shows it, and the actions of clients on it. */

import { EphemeralChannel } from '@atrium/core/channels/ephemeral-channel.js';
import type { Writer } from '@atrium/core/channels/writer.js';
import { type Clock, systemClock } from '@atrium/core/util/clock.js';
import { succeedsWithin } from '@atrium/core/util/waiting.js';
import type { StateAction, TerminalAction, TerminalClaim, TerminalInfo, TerminalState } from '@atrium/protocol/ahp-1';
import { type ClaimedSessions, isOfCall, terminalRefusal } from './claims.js';
import { Flow } from './output-flow.js';
import type { Pty, PtyEvents, PtyExit } from './pty.js';
import { reduceBounded } from './scrollback.js';
import { type Ending, EXIT_MAX_MS, type TerminalEnd, TerminalProcess } from './terminal-process.js';
import { Screen } from './terminal-screen.js';

/** How much input may wait for a program that does not read it. */
const INPUT_WAITING_MAX_BYTES = 256 * 2 ** 10;
/** Shells report a signal as this number plus the signal's. */
const SIGNALLED = 128;

/** The part of the host that a terminal uses. */
export interface TerminalHost {
  readonly clock: Clock;
  readonly writer: Writer;
  readonly sessions: ClaimedSessions;
  readonly connections: { isConnected(clientId: string): boolean };
  /** Bytes that wait for the fastest subscriber. */
  unsentTo(uri: string): number;
}

interface TerminalOptions {
  readonly host: TerminalHost;
  readonly uri: string;
  readonly initial: TerminalState;
  /** A person chose its title. */
  readonly isNamed: boolean;
  /** A tool runs its command here. */
  readonly isOfTool: boolean;
  /** The secret in the marks of its shell. */
  readonly nonce: string | undefined;
  /** How its processes are ended. */
  readonly ending: Ending;
  readonly spawn: (events: PtyEvents) => Pty;
  /** Its entry in the root state may have changed. */
  readonly changed: () => void;
}

export class Terminal {
  readonly channel: EphemeralChannel<TerminalState>;
  /** As a URI. */
  readonly startedIn: string | undefined;
  readonly #options: TerminalOptions;
  readonly #clients: ClientActions;
  readonly #flow: Flow;
  readonly screen: Screen;
  readonly #process: TerminalProcess;
  #isNamed: boolean;
  /** Called when no call uses the terminal any more; set by the tool whose command runs here. */
  onUnclaimed: ((claim: TerminalClaim) => void) | undefined;
  /** Called in the tick that stores output, so that records made here exist before a client sees the output. */
  beforeShown: (() => void) | undefined;

  constructor(options: TerminalOptions) {
    const { host, uri, initial } = options;
    this.startedIn = initial.cwd;
    this.#options = options;
    this.#isNamed = options.isNamed;
    this.channel = new EphemeralChannel({
      writer: host.writer,
      uri,
      initial,
      reduce: reduceBounded,
      refusal: (action, clientId) => this.#clients.refusal(action, clientId),
      applied: (action) => this.#clients.applied(action),
    });
    this.#clients = this.#makeClients(host);
    this.#flow = this.#makeFlow(host);
    this.screen = new Screen({
      clock: host.clock,
      flow: this.#flow,
      nonce: options.nonce,
      state: () => this.state,
      isNamed: () => this.#isNamed,
      over: (exitCode) => this.#process.over({ exitCode, signal: undefined }),
    });
    this.#process = new TerminalProcess({
      spawn: options.spawn,
      ending: options.ending,
      output: (text) => this.screen.write(text),
      exited: (exit) => this.screen.end(codeOf(exit)),
    });
  }

  #makeClients(host: TerminalHost): ClientActions {
    return new ClientActions({
      writer: host.writer,
      state: () => this.state,
      process: () => this.#process,
      sessions: host.sessions,
      isHere: (clientId) => host.connections.isConnected(clientId),
      changed: ({ type }) => {
        this.#isNamed ||= type === 'terminal/titleChanged';
        this.#options.changed();
      },
      unclaimed: (claim) => this.onUnclaimed?.(claim),
    });
  }

  #makeFlow(host: TerminalHost): Flow {
    return new Flow({
      clock: host.clock,
      writer: host.writer,
      write: (actions) => this.#write(actions),
      unsent: () => host.unsentTo(this.uri),
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

  /** Resolves when the process and everything that it started have ended. */
  get ended(): Promise<TerminalEnd> {
    return this.#process.ended;
  }

  get isOfTool(): boolean {
    return this.#options.isOfTool;
  }

  get info(): TerminalInfo {
    const { title, claim, lifecycle } = this.state;
    return { resource: this.uri, title, claim, lifecycle };
  }

  claim(claim: TerminalClaim): void {
    this.#flow.act({ type: 'terminal/claimed', claim });
  }

  /** Resolves when everything so far is stored. */
  settled(): Promise<void> {
    return this.#flow.drained();
  }

  /** Ends everything that runs here, and resolves when the end is stored. */
  async end(): Promise<void> {
    await this.#process.end();
    await succeedsWithin(systemClock, EXIT_MAX_MS, this.#flow.drained());
  }

  /** Stops writing. */
  close(): void {
    this.screen.stop();
    this.#flow.stop();
  }

  #write(actions: readonly TerminalAction[]): void {
    this.beforeShown?.();
    for (const action of actions) this.channel.write(action);
    if (actions.some(({ type }) => type !== 'terminal/data')) this.#options.changed();
  }
}

function codeOf({ exitCode, signal }: PtyExit): number {
  return signal ? SIGNALLED + signal.number : exitCode;
}

interface ClientActionsOptions {
  readonly writer: Pick<Writer, 'afterCommit' | 'afterFailure'>;
  state(): TerminalState;
  process(): TerminalProcess;
  readonly sessions: ClaimedSessions;
  /** Whether a client is connected. */
  isHere(clientId: string): boolean;
  /** The terminal's title or owner has changed. */
  changed(action: StateAction): void;
  /** No call uses the terminal any more. */
  unclaimed(claim: TerminalClaim): void;
}

/** The actions of clients on a terminal: which are allowed, and what they do. */
class ClientActions {
  readonly #options: ClientActionsOptions;
  /** Input that has not been passed to the process, because it is not stored yet. */
  #typedCharacters = 0;

  constructor(options: ClientActionsOptions) {
    this.#options = options;
  }

  refusal(action: StateAction, clientId: string): string | undefined {
    const { state, process, sessions, isHere } = this.#options;
    const { hasExited, pty } = process();
    const isFull = this.#typedCharacters + pty.unreadBytes > INPUT_WAITING_MAX_BYTES;
    return terminalRefusal(action, clientId, { state: state(), hasExited, isFull, sessions, isHere });
  }

  /** An action takes effect only when it is stored, so that it happens exactly once. */
  applied(action: StateAction): void {
    const { writer, changed } = this.#options;
    if (action.type === 'terminal/titleChanged' || action.type === 'terminal/claimed') changed(action);
    const typed = action.type === 'terminal/input' ? action.data.length : 0;
    const forget = () => {
      this.#typedCharacters -= typed;
    };
    this.#typedCharacters += typed;
    writer.afterCommit(() => {
      forget();
      this.#act(action);
    });
    writer.afterFailure(forget);
  }

  #act(action: StateAction): void {
    const { pty } = this.#options.process();
    if (action.type === 'terminal/input') pty.write(action.data);
    if (action.type === 'terminal/resized') pty.resize(action.cols, action.rows);
    if (action.type === 'terminal/claimed' && !isOfCall(action.claim)) this.#options.unclaimed(action.claim);
  }
}
