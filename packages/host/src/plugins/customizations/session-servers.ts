/** The MCP servers of a session: every declared one is listed, and the wanted ones run. Also asks people to sign in. */
import type { TurnAdvice } from '@atrium/core/contracts/extension.js';
import type { HostTool } from '@atrium/core/contracts/tool.js';
import type { Report } from '@atrium/core/sessions/session-observer.js';
import type { Clock } from '@atrium/core/util/clock.js';
import type { Logger } from '@atrium/core/util/logger.js';
import type { TokenGrant } from '@atrium/core/util/token-grant.js';
import { argumentsHint, type ServerPrompt } from '@atrium/protocol/ahp-1';
import type { People } from '../mcp/elicitation.js';
import type { McpAuthRequired } from '../mcp/mcp-link.js';
import type { McpServer, McpServerState } from '../mcp/mcp-server.js';
import { readArguments } from '../mcp/prompts.js';
import { McpServers, serverKey } from '../mcp/servers.js';
import type { DeclaredServer } from './enabled.js';
import type { TypedCommand } from './invocables.js';
import type { HostSession } from './ports.js';

export interface SessionServersOptions {
  readonly session: HostSession;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The session's folder. */
  readonly folder: string | undefined;
}

interface Known {
  readonly text: string;
  readonly entry: string;
  /** Why it could not be added. */
  readonly problem?: string | undefined;
  /** Whether it should run, because it is switched on and allowed to. */
  shouldRun: boolean;
  isRunning: boolean;
}

const STOPPED: McpServerState = { kind: 'stopped' };

export class SessionServers {
  readonly #servers: McpServers;
  readonly #known = new Map<string, Known>();
  /** Servers that a person stopped. They stay stopped until a person starts them, or switches them off and on. */
  readonly #stopped = new Set<string>();
  readonly #clock: Clock;
  /** While the session is idle, no server starts. */
  #isSuspended = false;
  /** Where to report progress to the caller that waits for the servers. */
  #report: Report | undefined;
  /** Called when no server is starting any more. */
  #allStarted: (() => void) | undefined;

  #changed: (server: McpServer) => void = () => {};
  #callRefused: (requirement: McpAuthRequired) => void = () => {};

  constructor({ session, clock, logger, folder }: SessionServersOptions) {
    this.#clock = clock;
    this.#servers = new McpServers({
      ...{ clock, logger, folder, people: peopleOf(session) },
      roots: () => session.state.workingDirectories ?? [],
      changed: (server) => {
        this.#changed(server);
        this.#reportReady();
        if (!this.#isStarting) this.#allStarted?.();
      },
      callRefused: (_server, requirement) => this.#callRefused(requirement),
    });
  }

  /** Calls back whenever the state or the tools of a server have changed. */
  onChange(changed: (server: McpServer) => void): void {
    this.#changed = changed;
  }

  /** Calls back whenever a call needs a token with more rights than the present one. */
  onCallRefused(callRefused: (requirement: McpAuthRequired) => void): void {
    this.#callRefused = callRefused;
  }

  /** Waits until every server is ready or has failed, but no longer than the given time. */
  async started(timeoutMs: number, report: Report): Promise<void> {
    if (!this.#isStarting) return;
    this.#report = report;
    this.#reportReady();
    await new Promise<void>((resolve) => {
      this.#allStarted = resolve;
      this.#clock.after(timeoutMs, resolve);
    });
    this.#allStarted = undefined;
    this.#report = undefined;
  }

  #reportReady(): void {
    const wanted = this.#servers.all.filter(({ id }) => this.#known.get(id)?.isRunning);
    const ready = wanted.filter(({ isStarting }) => !isStarting);
    this.#report?.(`${ready.length} of ${wanted.length} MCP servers have started`);
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

  /** The tools of the servers in one entry. */
  toolsOf(entry: string): readonly HostTool[] {
    return this.#servers.all.filter(({ id }) => this.entryOf(id) === entry).flatMap(({ tools }) => tools);
  }

  /** The prompts of a server, without the members that only the host needs. */
  promptsOf(id: string): readonly ServerPrompt[] {
    return (this.#servers.get(id)?.prompts ?? []).map(({ name: _, ...prompt }) => prompt);
  }

  /**
   * Asks a server to expand the prompt that a person typed as a command; undefined when no server has a prompt of that
   * name.
   */
  async promptAdvice({ name, args }: TypedCommand, signal: AbortSignal): Promise<TurnAdvice | undefined> {
    const wanted = name.toLowerCase();
    for (const server of this.#servers.all) {
      const prompt = server.prompts.find(({ command }) => command.toLowerCase() === wanted);
      if (!prompt) continue;
      const read = readArguments(prompt, args);
      if (read.kind === 'missing') return { blocked: missingText(prompt, read.names) };
      try {
        const text = await server.promptText(prompt.name, read.values, signal);
        return {
          context: `The person used the prompt "${prompt.command}" of the MCP server ${server.name}:\n\n${text}`,
        };
      } catch (error) {
        signal.throwIfAborted();
        return { blocked: error instanceof Error ? error.message : String(error) };
      }
    }
    return undefined;
  }

  authenticate(resource: string, grant: TokenGrant): boolean {
    return this.#servers.authenticate(resource, grant);
  }

  /** `declared` is in order of precedence: of two servers with one name, the first is used. */
  sync(declared: readonly DeclaredServer[]): void {
    const used = withoutDuplicates(declared);
    const texts = new Map(declared.map((server) => [server.id, textOf(server, used.has(server))]));
    for (const [id, { text }] of [...this.#known]) {
      if (texts.get(id) !== text) this.#remove(id);
    }
    for (const server of declared) this.#keep(server, used.has(server));
  }

  /** A person wants the server to run now. If it failed or is waiting, it starts again. */
  startRequested(id: string): void {
    this.#stopped.delete(id);
    const known = this.#known.get(id);
    const server = this.#servers.get(id);
    if (!known?.shouldRun || !server) return;
    if (known.isRunning && server.state.kind === 'ready') return;
    if (known.isRunning) void server.stop();
    known.isRunning = true;
    server.start();
  }

  /** A person wants the server to end. */
  stopRequested(id: string): void {
    this.#stopped.add(id);
    const known = this.#known.get(id);
    if (known) known.isRunning = false;
    void this.#servers.get(id)?.stop();
  }

  /**
   * Ends the processes and connections of all servers. Their states and tools stay, so that clients do not see them
   * disappear and return.
   */
  async suspend(): Promise<void> {
    this.#isSuspended = true;
    await Promise.all(this.#servers.all.map((server) => server.suspend()));
  }

  /** Restarts the servers that ran before the session was idle. */
  wake(): void {
    if (!this.#isSuspended) return;
    this.#isSuspended = false;
    for (const [id, { isRunning }] of this.#known) if (isRunning) this.#servers.get(id)?.start();
  }

  /** The folders of the session have changed. */
  rootsChanged(): void {
    for (const server of this.#servers.all) server.rootsChanged();
  }

  stop(): Promise<void> {
    return this.#servers.stop();
  }

  #remove(id: string): void {
    this.#known.delete(id);
    void this.#servers.remove(id);
  }

  #keep(declared: DeclaredServer, isUsed: boolean): void {
    const known = this.#known.get(declared.id) ?? this.#add(declared, isUsed);
    known.shouldRun = declared.shouldRun;
    if (!declared.shouldRun) this.#stopped.delete(declared.id);
    const isToRun = declared.shouldRun && !this.#stopped.has(declared.id);
    // A server that gave up starts again only when a person switches it on again, or starts it.
    if (isToRun === known.isRunning) return;
    known.isRunning = isToRun;
    const server = this.#servers.get(declared.id);
    if (!isToRun) void server?.stop();
    else if (!this.#isSuspended) server?.start();
  }

  #add(declared: DeclaredServer, isUsed: boolean): Known {
    const { id, name, plugin, config, isOfUser, entry } = declared;
    const added = isUsed ? this.#servers.add({ id, name, plugin, config, isOfUser }) : 'name-taken';
    const known = {
      text: textOf(declared, isUsed),
      entry,
      problem: problemIn(added),
      shouldRun: false,
      isRunning: false,
    };
    this.#known.set(id, known);
    return known;
  }
}

function missingText(prompt: ServerPrompt, names: readonly string[]): string {
  const missing = names.join(' and ');
  return `/${prompt.command} needs ${missing}. Write /${prompt.command} ${argumentsHint(prompt)}`;
}

/** The first server of each name, as models see it. */
function withoutDuplicates(declared: readonly DeclaredServer[]): ReadonlySet<DeclaredServer> {
  const first = new Map<string, DeclaredServer>();
  for (const server of declared) {
    const key = serverKey(server);
    if (!first.has(key)) first.set(key, server);
  }
  return new Set(first.values());
}

/** Declarations with different texts are different servers. */
function textOf({ name, plugin, config, isOfUser }: DeclaredServer, isUsed: boolean): string {
  return JSON.stringify([name, plugin, config, isOfUser, isUsed]);
}

function problemIn(added: ReturnType<McpServers['add']>): string | undefined {
  if (added === 'name-taken') return 'another MCP server of this session has the same name, and takes precedence';
  return added === 'too-many' ? 'the session has too many MCP servers already' : undefined;
}

/**
 * MCP servers may ask even when none of their calls is running; then the question belongs to the session rather than to
 * a turn.
 */
function peopleOf(session: HostSession): People {
  return {
    ask: (request) =>
      new Promise((resolve) => {
        session.standing.ask(request, (response, answers) => resolve({ response, answers }), { least: 'approver' });
      }),
    withdraw: (requestId) => {
      const open = session.state.inputNeeded?.find(
        (entry) => entry.kind === 'chatInput' && entry.request.id === requestId,
      );
      if (open) session.chatAt(open.chat)?.write({ type: 'chat/inputCompleted', requestId, response: 'cancel' });
    },
  };
}

type NotifySession = (method: string, params: object) => void;

/** MCP servers that want a person to sign in: notifies clients, and asks when a turn may be waiting for it. */
export class SignIn {
  readonly #session: HostSession;
  readonly #notify: NotifySession;
  /** The last requirement of each server, so that clients hear of each one once. */
  readonly #reported = new Map<string, string>();
  readonly #withdraw = new Map<string, () => void>();

  constructor(session: HostSession, notify: NotifySession) {
    this.#session = session;
    this.#notify = notify;
  }

  serverChanged({ id, name, state }: McpServer): void {
    if (state.kind !== 'authRequired') {
      this.#reported.delete(id);
      this.#withdraw.get(id)?.();
      this.#withdraw.delete(id);
      return;
    }
    const { resource } = state.resource;
    const need = JSON.stringify([resource, state.reason]);
    if (this.#reported.get(id) === need) return;
    this.#reported.set(id, need);
    this.callRefused(state);
    if (this.#session.chats.some(({ state: chat }) => chat.activeTurn))
      this.#ask(id, `The MCP server ${name} wants you to sign in (${resource}).`);
  }

  /** `auth/required` has no reason for a token with too few rights. */
  callRefused({ resource, reason }: McpAuthRequired): void {
    this.#notify('auth/required', { resource, reason: reason === 'expired' ? 'expired' : 'required' });
  }

  #ask(id: string, message: string): void {
    this.#withdraw.get(id)?.();
    const request = { id: `sign-in-${crypto.randomUUID()}`, message, questions: [] };
    const withdraw = this.#session.standing.ask(request, () => this.#withdraw.delete(id));
    this.#withdraw.set(id, withdraw);
  }
}
