/** Keeps the MCP servers of a session as they should be: there when declared, running when they may and are wanted. */

import type { HostTool } from '../../core/contracts/tool.js';
import type { Session } from '../../core/sessions/session.js';
import type { Clock } from '../../core/util/clock.js';
import type { Logger } from '../../core/util/logger.js';
import type { People } from '../mcp/elicitation.js';
import type { McpServer, McpServerState } from '../mcp/server.js';
import { McpServers } from '../mcp/servers.js';
import type { McpServerConfig } from './parse/mcp.js';

export interface DeclaredServer {
  readonly id: string;
  readonly name: string;
  readonly plugin?: string | undefined;
  readonly config: McpServerConfig;
  /** Declared by the user's own configuration or plugins, not by a project or a client. */
  readonly isOfUser: boolean;
  /** The entry of the session that shows it. */
  readonly entry: string;
  /** Switched on, and allowed to run. */
  readonly isWanted: boolean;
}

export interface SessionServersParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly folder: string | undefined;
  readonly people: People;
  changed(server: McpServer): void;
}

interface Known {
  readonly text: string;
  readonly entry: string;
  /** Why it could not be added. */
  readonly problem?: string | undefined;
  isRunning: boolean;
}

const STOPPED: McpServerState = { kind: 'stopped' };

export class SessionServers {
  readonly #servers: McpServers;
  readonly #known = new Map<string, Known>();
  readonly #clock: Clock;
  /** The session rests: nothing is started. */
  #isResting = false;
  /** Called when none is starting any more. */
  #allStarted: (() => void) | undefined;

  constructor({ clock, logger, folder, people, changed }: SessionServersParts) {
    this.#clock = clock;
    this.#servers = new McpServers({
      ...{ clock, logger, folder, people },
      changed: (server) => {
        changed(server);
        if (!this.#isStarting) this.#allStarted?.();
      },
    });
  }

  /** Waits until every server is ready or has failed, but not for ever. */
  async started(timeoutMs: number): Promise<void> {
    if (!this.#isStarting) return;
    await new Promise<void>((resolve) => {
      this.#allStarted = resolve;
      this.#clock.after(timeoutMs, resolve);
    });
    this.#allStarted = undefined;
  }

  get #isStarting(): boolean {
    return this.#servers.all.some(({ isStarting }) => isStarting);
  }

  entryOf(id: string): string | undefined {
    return this.#known.get(id)?.entry;
  }

  stateOf(id: string): McpServerState {
    const problem = this.#known.get(id)?.problem;
    if (problem !== undefined) return { kind: 'error', message: problem };
    return this.#servers.get(id)?.state ?? STOPPED;
  }

  /** The tools of the servers that one entry shows. */
  toolsOf(entry: string): readonly HostTool[] {
    return this.#servers.all.filter(({ id }) => this.entryOf(id) === entry).flatMap(({ tools }) => tools);
  }

  authenticate(resource: string, token: string): boolean {
    return this.#servers.authenticate(resource, token);
  }

  sync(declared: readonly DeclaredServer[]): void {
    const texts = new Map(declared.map((server) => [server.id, textOf(server)]));
    for (const [id, { text }] of [...this.#known]) {
      if (texts.get(id) !== text) this.#remove(id);
    }
    for (const server of declared) this.#keep(server);
  }

  /** Ends their processes and connections. What is known of them stays as it is, so that nobody sees them come and go. */
  async rest(): Promise<void> {
    this.#isResting = true;
    await Promise.all(this.#servers.all.map((server) => server.rest()));
  }

  /** Those that should run do so again. */
  wake(): void {
    if (!this.#isResting) return;
    this.#isResting = false;
    for (const [id, { isRunning }] of this.#known) if (isRunning) this.#servers.get(id)?.start();
  }

  stop(): Promise<void> {
    return this.#servers.stop();
  }

  #remove(id: string): void {
    this.#known.delete(id);
    void this.#servers.remove(id);
  }

  #keep(declared: DeclaredServer): void {
    const known = this.#known.get(declared.id) ?? this.#add(declared);
    // A server that gave up begins anew only when somebody switches it on again.
    if (declared.isWanted === known.isRunning) return;
    known.isRunning = declared.isWanted;
    const server = this.#servers.get(declared.id);
    if (!declared.isWanted) void server?.stop();
    else if (!this.#isResting) server?.start();
  }

  #add(declared: DeclaredServer): Known {
    const { id, name, plugin, config, isOfUser, entry } = declared;
    const added = this.#servers.add({ id, name, plugin, config, isOfUser });
    const known = { text: textOf(declared), entry, problem: problemIn(added), isRunning: false };
    this.#known.set(id, known);
    return known;
  }
}

/** What makes it another server. */
function textOf({ name, plugin, config, isOfUser }: DeclaredServer): string {
  return JSON.stringify([name, plugin, config, isOfUser]);
}

function problemIn(added: ReturnType<McpServers['add']>): string | undefined {
  if (added === 'name-taken') return 'another MCP server of this session has the same name, and came first';
  return added === 'too-many' ? 'the session has too many MCP servers already' : undefined;
}

/** MCP servers that want somebody to sign in: clients are told, and asked when a turn may be waiting for it. */

export interface SignInParts {
  readonly session: Session;
  /** To everybody who watches the session. */
  notify(method: string, params: object): void;
}

export class SignIn {
  readonly #parts: SignInParts;
  /** The last need that was told, by server, so that each is told once. */
  readonly #told = new Map<string, string>();
  readonly #withdraw = new Map<string, () => void>();

  constructor(parts: SignInParts) {
    this.#parts = parts;
  }

  /** A server changed. */
  look({ id, name, state }: McpServer): void {
    if (state.kind !== 'authRequired') {
      this.#told.delete(id);
      this.#withdraw.get(id)?.();
      this.#withdraw.delete(id);
      return;
    }
    const { resource } = state.resource;
    const need = JSON.stringify([resource, state.reason]);
    if (this.#told.get(id) === need) return;
    this.#told.set(id, need);
    this.#parts.notify('auth/required', { resource, reason: state.reason });
    if (this.#parts.session.state.activeTurn)
      this.#ask(id, `The MCP server ${name} wants you to sign in (${resource}).`);
  }

  #ask(id: string, message: string): void {
    this.#withdraw.get(id)?.();
    const request = { id: `sign-in-${crypto.randomUUID()}`, message, questions: [] };
    this.#withdraw.set(
      id,
      this.#parts.session.standing.ask(request, () => this.#withdraw.delete(id)),
    );
  }
}
