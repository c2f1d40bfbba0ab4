/**
 * All terminals of the host: real shells on this machine, which clients open, share and hand over. They end with the
 * host. Start reading here; `terminal.ts` is a single terminal, and `command-run.ts` is how tools use one.
 */

import type { OpenChannel } from '@atrium/core/channels/open-channel.js';
import type { Writer } from '@atrium/core/channels/writer.js';
import type { Caller } from '@atrium/core/contracts/ports.js';
import { RequestError } from '@atrium/core/contracts/request-error.js';
import {
  type BackgroundCommand,
  type TerminalRequest,
  type ToolContext,
  ToolFailure,
} from '@atrium/core/contracts/tool.js';
import type { Service, ServiceRequests, ToolCallScope } from '@atrium/core/sessions/service.js';
import type { Session } from '@atrium/core/sessions/session.js';
import type { SessionObserver } from '@atrium/core/sessions/session-observer.js';
import type { Logger } from '@atrium/core/util/logger.js';
import { type CreateTerminalParams, ErrorCode } from '@atrium/protocol/ahp-1';
import { BackgroundCommands } from './background-commands.js';
import { BackgroundWork, type BackgroundWorkOptions } from './background-work.js';
import { runCommand, startInBackground } from './command-run.js';
import { OpenTerminals, type OpenTerminalsHost, TERMINALS_MAX } from './open-terminals.js';
import { checkedUri, type Opening, type OpeningHost, openingFor, startTerminal } from './opening.js';
import { PtySource, type SpawnPty } from './pty.js';
import { Shells, type ShellsOptions } from './shells.js';
import type { Terminal, TerminalHost } from './terminal.js';

export interface TerminalsOptions extends ShellsOptions {
  readonly max?: number;
  /** Loads the package that makes pseudo terminals. */
  readonly load?: () => Promise<SpawnPty>;
}

/** The part of the host that terminals use. */
export interface TerminalsHost extends TerminalHost, OpenTerminalsHost, OpeningHost {
  readonly logger: Logger;
  readonly writer: Writer;
  readonly sessions: TerminalHost['sessions'] & OpeningHost['sessions'] & Pick<BackgroundWorkOptions, 'openChat'>;
}

export class Terminals implements Service {
  readonly scheme = 'ahp-terminal:';
  readonly lanes = { disposeTerminal: 'aside' } as const;
  readonly requests: ServiceRequests = {
    createTerminal: (connection, params) => this.#create(connection, params),
    disposeTerminal: (_connection, { channel }) => this.#dispose(channel),
  };
  readonly #host: TerminalsHost;
  readonly #open: OpenTerminals;
  /** URIs of terminals that are being opened. */
  readonly #opening = new Set<string>();
  readonly #shells: Shells;
  readonly #source: PtySource;
  readonly #background: BackgroundWork;
  readonly #commands: BackgroundCommands;

  constructor(host: TerminalsHost, { max = TERMINALS_MAX, load, ...shells }: TerminalsOptions = {}) {
    this.#host = host;
    this.#open = new OpenTerminals(host, max);
    this.#shells = new Shells(shells);
    this.#commands = new BackgroundCommands(host.clock);
    this.#source = new PtySource(load);
    this.#background = new BackgroundWork({
      openChat: (uri) => host.sessions.openChat(uri),
      isRunning: (uri) => this.#open.get(uri)?.hasExited === false,
    });
  }

  get running(): number {
    return this.#open.running;
  }

  /** Clears the list of an earlier run of the host, whose terminals have ended. */
  async start(): Promise<void> {
    this.#open.publish();
  }

  open(uri: string): OpenChannel | undefined {
    return this.#open.get(uri)?.channel;
  }

  /** The folder in which a terminal was started, as a URI; its shell may be elsewhere now. */
  startedIn(uri: string): string | undefined {
    return this.#open.get(uri)?.startedIn;
  }

  readonly attach = (session: Session): SessionObserver => {
    // Waits until the session is fully constructed.
    queueMicrotask(() => {
      this.#background.tidy(session);
      if (this.#commands.has(session.uri)) session.extensions.set(this.#commands.extension(session.uri));
    });
    return {
      close: async () => {
        // The session may only have been unloaded.
        if (this.#host.sessions.has(session.uri)) return;
        await this.#open.endAllOf(session.uri);
        this.#commands.forget(session.uri);
      },
    };
  };

  toolContext({ session, chat, turnId, toolCallId }: ToolCallScope): Partial<ToolContext> {
    const claim = { kind: 'session', session: session.uri, chat: chat.uri, turnId, toolCallId } as const;
    const isWatched = (): boolean => this.#host.isWatched(session.uri);
    return {
      runInTerminal: async (request) => {
        const startedAt = this.#host.clock.now();
        let uri = '';
        const shown: TerminalRequest['shown'] = (place) => {
          uri = place.resource;
          request.shown(place);
        };
        const end = await runCommand(this, { claim, isWatched: isWatched(), request: { ...request, shown } });
        const terminal = end?.kind === 'detached' && !end.isTaken ? this.#open.get(uri) : undefined;
        if (terminal) this.#background.began({ chat, terminal, command: request.command, startedAt });
        return end;
      },
      background: {
        ...this.#commands.port(session.uri),
        start: (request) => this.#startInBackground({ session, chat, turnId, toolCallId }, request),
      },
    };
  }

  /** Starts a model's command that its call does not wait for; people see it in the list of its chat. */
  async #startInBackground(
    { session, chat, turnId, toolCallId }: ToolCallScope,
    { command, cwd }: { readonly command: string; readonly cwd: string },
  ): Promise<BackgroundCommand> {
    this.#commands.checkRoom(session.uri);
    if (process.platform === 'win32' || !(await this.canOpen()))
      throw new ToolFailure('UNAVAILABLE', 'No terminal can be opened here, so nothing can run in the background.');
    const claim = { kind: 'session', session: session.uri, chat: chat.uri, turnId, toolCallId } as const;
    const startedAt = this.#host.clock.now();
    const terminal = await startInBackground(this, { claim, command, cwd });
    const about = this.#commands.add({ session: session.uri, chat: chat.uri, command, startedAt, terminal });
    this.#background.began({ chat, terminal, command, startedAt });
    session.extensions.set(this.#commands.extension(session.uri));
    return about;
  }

  async close(): Promise<void> {
    await this.#open.close();
    await this.#shells.close();
  }

  async #create(connection: Caller, params: CreateTerminalParams): Promise<null> {
    const uri = checkedUri(params.channel);
    if (this.#opening.has(uri) || this.#open.isInUse(uri)) {
      throw new RequestError(ErrorCode.AlreadyExists, `${uri} is in use: choose another`);
    }
    this.#opening.add(uri);
    try {
      await this.openTerminal(await openingFor(params, connection, this.#host, this.#shells));
    } finally {
      this.#opening.delete(uri);
    }
    return null;
  }

  /** Whether terminals can be opened here; loads the package that makes them. */
  canOpen(): Promise<boolean> {
    return this.#source.spawn().then(
      () => true,
      () => false,
    );
  }

  async openTerminal(opening: Opening): Promise<Terminal> {
    const spawn = await this.#source.spawn();
    if (this.#open.isClosed) throw new RequestError(ErrorCode.InvalidRequest, 'the host is stopping');
    const { uri, claim } = opening;
    // The session may have been disposed meanwhile; then nothing would end this terminal.
    if (claim.kind === 'session' && !this.#host.sessions.has(claim.session)) {
      throw new RequestError(ErrorCode.SessionNotFound, `there is no session ${claim.session} any more`);
    }
    this.#open.makeRoom();
    const terminal = startTerminal(opening, { host: this.#host, spawn, changed: () => this.#open.publish() });
    this.#open.add(terminal);
    this.#host.logger.log('info', 'terminal opened', { terminal: uri, pid: terminal.pid });
    return terminal;
  }

  /** A call is over, and so is the command in its terminal. */
  finished(terminal: Terminal): void {
    this.#open.finished(terminal);
  }

  async #dispose(uri: string): Promise<null> {
    const terminal = this.#open.get(uri);
    if (!terminal) throw new RequestError(ErrorCode.NotFound, `there is no terminal ${uri}; the root state names them`);
    await this.#open.remove(terminal);
    return null;
  }
}

/** The service of a host without terminals: it refuses to open one. */

export function withoutTerminals({ root }: Pick<OpenTerminalsHost, 'root'>): Service & Pick<Terminals, 'startedIn'> {
  const refuse = (): never => {
    throw new RequestError(ErrorCode.PermissionDenied, 'terminals are turned off on this host');
  };
  return {
    scheme: 'ahp-terminal:',
    requests: { createTerminal: refuse, disposeTerminal: refuse },
    startedIn: () => undefined,
    // Clears the list of an earlier run of the host, whose terminals have ended.
    start: async () => root.setTerminals([]),
  };
}
