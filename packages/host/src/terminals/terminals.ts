/**
 * All terminals of the host: real shells on this machine, which clients open, share and hand over. They end with the
 * host. Begin reading here; `terminal.ts` is one of them, `command-run.ts` is how tools use one.
 */
import { type CreateTerminalParams, ErrorCode } from '@atrium/protocol';
import type { HostCore, OpenChannel } from '../core.js';
import type { Service, ServiceRequests, ToolPlace } from '../service.js';
import type { Companion } from '../sessions/companion.js';
import type { Session } from '../sessions/session.js';
import type { ToolContext } from '../tools/tool.js';
import type { Connection } from '../wire/connection.js';
import { RequestError } from '../wire/request-error.js';
import { checkedUri } from './check-params.js';
import { isOfCall, isOfSession } from './claims.js';
import { runCommand } from './command-run.js';
import { FINISHED_KEPT_PER_SESSION, TERMINALS_MAX } from './limits.js';
import { type Opening, startTerminal } from './opening.js';
import type { SpawnPty } from './pty.js';
import { PtySource } from './pty-source.js';
import { openingFor } from './requested.js';
import { Shells, type ShellsOptions } from './shells/shells.js';
import type { Terminal } from './terminal.js';

export interface TerminalsOptions extends ShellsOptions {
  readonly max?: number;
  /** Finds what makes terminals. */
  readonly load?: () => Promise<SpawnPty>;
}

export class Terminals implements Service {
  readonly scheme = 'ahp-terminal:';
  readonly lanes = { disposeTerminal: 'aside' } as const;
  readonly requests: ServiceRequests = {
    createTerminal: (connection, params) => this.#create(connection, params),
    disposeTerminal: (_connection, { channel }) => this.#dispose(channel),
  };
  readonly #core: HostCore;
  readonly #max: number;
  readonly #all = new Map<string, Terminal>();
  /** URIs of terminals that are about to be. */
  readonly #opening = new Set<string>();
  /** Terminals that are off the list, and not at their end yet. */
  readonly #ending = new Map<string, Promise<void>>();
  readonly #shells: Shells;
  readonly #source: PtySource;
  #isClosed = false;

  constructor(core: HostCore, { max = TERMINALS_MAX, load, ...shells }: TerminalsOptions = {}) {
    this.#core = core;
    this.#max = max;
    this.#shells = new Shells(shells);
    this.#source = new PtySource(load);
  }

  get running(): number {
    return [...this.#all.values()].filter(({ hasExited }) => !hasExited).length;
  }

  /** Terminals of a host that is no more are no more. */
  async start(): Promise<void> {
    this.#publish();
  }

  open(uri: string): OpenChannel | undefined {
    return this.#all.get(uri)?.channel;
  }

  readonly attach = (session: Session): Companion => ({
    close: async () => {
      // It may only have left memory.
      if (!this.#core.sessions.has(session.uri)) await this.#endAllOf(session.uri);
    },
  });

  toolContext({ session, turnId, toolCallId }: ToolPlace): Partial<ToolContext> {
    const claim = { kind: 'session', session: session.uri, turnId, toolCallId } as const;
    const isWatched = (): boolean => this.#core.isWatched(session.uri);
    return { runInTerminal: (request) => runCommand(this, { claim, isWatched: isWatched(), request }) };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const terminal of this.#all.values()) void this.#remove(terminal);
    await Promise.all(this.#ending.values());
    await this.#shells.close();
  }

  async #create(connection: Connection, params: CreateTerminalParams): Promise<null> {
    const uri = checkedUri(params.channel);
    if ([this.#all, this.#opening, this.#ending].some((uris) => uris.has(uri))) {
      throw new RequestError(ErrorCode.AlreadyExists, `${uri} is in use: choose another`);
    }
    this.#opening.add(uri);
    try {
      await this.openTerminal(await openingFor(params, connection, this.#core, this.#shells));
    } finally {
      this.#opening.delete(uri);
    }
    return null;
  }

  /** Whether terminals can be had here; what makes them is loaded then. */
  ready(): Promise<boolean> {
    return this.#source.spawn().then(
      () => true,
      () => false,
    );
  }

  async openTerminal(opening: Opening): Promise<Terminal> {
    const spawn = await this.#source.spawn();
    if (this.#isClosed) throw new RequestError(ErrorCode.InvalidRequest, 'the host is stopping');
    const { uri, claim } = opening;
    // It may have gone meanwhile, and would never take this one along.
    if (claim.kind === 'session' && !this.#isSession(claim.session)) {
      throw new RequestError(ErrorCode.SessionNotFound, `there is no session ${claim.session} any more`);
    }
    this.#makeRoom();
    const terminal = startTerminal(opening, { core: this.#core, spawn, changed: () => this.#publish() });
    this.#all.set(uri, terminal);
    this.#core.logger.log('info', 'terminal opened', { terminal: uri, pid: terminal.pid });
    this.#publish();
    return terminal;
  }

  /** A terminal of a call that is over makes room for a new one; all others are somebody's. */
  #makeRoom(): void {
    if (this.#all.size < this.#max) return;
    const oldest = [...this.#all.values()].find(isLeftByCall);
    if (oldest) return void this.#remove(oldest);
    throw new RequestError(ErrorCode.PermissionDenied, `${this.#max} terminals are open: dispose of some first`);
  }

  async #dispose(uri: string): Promise<null> {
    const terminal = this.#all.get(uri);
    if (!terminal) throw new RequestError(ErrorCode.NotFound, `there is no terminal ${uri}; the root state names them`);
    await this.#remove(terminal);
    return null;
  }

  /** Takes it off the list, ends it, and lets those go who watched it until its end. */
  #remove(terminal: Terminal): Promise<void> {
    const { uri } = terminal;
    this.#all.delete(uri);
    this.#publish();
    const ended = this.#end(terminal).finally(() => this.#ending.delete(uri));
    this.#ending.set(uri, ended);
    return ended;
  }

  async #end(terminal: Terminal): Promise<void> {
    await terminal.end();
    terminal.close();
    this.#core.unsubscribeAll(terminal.uri);
    await this.#core.writer.settled().catch(() => {});
  }

  /** A call is over: what it showed can still be looked at, until some more calls are over. */
  finished(terminal: Terminal): void {
    const { claim } = terminal.state;
    if (claim.kind !== 'session') return;
    const left = [...this.#all.values()].filter(
      (each) => isOfSession(each.state.claim, claim.session) && isLeftByCall(each),
    );
    for (const old of left.slice(0, -FINISHED_KEPT_PER_SESSION)) void this.#remove(old);
  }

  async #endAllOf(session: string): Promise<void> {
    const own = [...this.#all.values()].filter(({ state }) => isOfSession(state.claim, session));
    await Promise.all(own.map((terminal) => this.#remove(terminal)));
  }

  #isSession(uri: string): boolean {
    return this.#core.sessions.has(uri);
  }

  #publish(): void {
    if (!this.#isClosed) this.#core.root.setTerminals([...this.#all.values()].map(({ info }) => info));
  }
}

/** Whether a tool ran its command here, and that is over. */
function isLeftByCall({ isOfTool, hasExited, state }: Terminal): boolean {
  return isOfTool && hasExited && state.claim.kind === 'session' && !isOfCall(state.claim);
}
