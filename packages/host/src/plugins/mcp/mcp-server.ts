/** One MCP server of one session: starts it, starts it again when it fails, and offers its tools. Knows nothing of clients. */

import type { HostTool } from '@atrium/core/contracts/tool.js';
import type { Clock } from '@atrium/core/util/clock.js';
import type { Logger } from '@atrium/core/util/logger.js';
import { pause, untilAborted, within } from '@atrium/core/util/waiting.js';
import type { ElicitResult } from '@modelcontextprotocol/sdk/types.js';
import type { McpServerConfig } from '../formats/mcp-declarations.js';
import { secretsOf, Tokens } from './authorization.js';
import { type Elicitation, ElicitationError, elicit, type People } from './elicitation.js';
import {
  MCP_ELICIT_OPEN_MAX,
  MCP_RETRIES_SHOWN,
  MCP_RETRY_FIRST_MS,
  MCP_RETRY_MAX_MS,
  MCP_STABLE_MS,
  MCP_START_TIMEOUT_MS,
} from './limits.js';
import { Connection, wordsOf } from './mcp-connection.js';
import type { LinkEnd, McpAuthRequired } from './mcp-link.js';
import { callTool, hostToolOf, type McpResult, type ServerCallOptions, type ToolServer } from './mcp-tool.js';
import { type ToolListing, ToolSet } from './tool-list.js';

export interface McpServerOptions {
  /** Of its customization. */
  readonly id: string;
  readonly name: string;
  /** The plugin that declares it; absent for one of the host's configuration. */
  readonly plugin?: string | undefined;
  /** Declared by the user: the host believes what it says of its tools. */
  readonly isOfUser?: boolean | undefined;
  readonly config: McpServerConfig;
  /** Where a process starts when its declaration does not say: the session's folder. */
  readonly folder?: string | undefined;
  /** The environment that a process inherits; by default the host's. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** The end of the server before it, which may hold a port or a file: this one starts after it. */
  readonly after?: Promise<void> | undefined;
  /** Asks the people of the session; without it, questions count as cancelled. */
  readonly people?: People | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The state or the tools are other than before. */
  changed(): void;
}

/** What clients see of a server. Never holds a token. */
export type McpServerState =
  /** Declared but not started, switched off, or shut down. */
  | { readonly kind: 'stopped' }
  | { readonly kind: 'starting' }
  | { readonly kind: 'ready' }
  | McpAuthRequired
  | { readonly kind: 'error'; readonly message: string };

const NO_TOOLS: readonly HostTool[] = [];

/** One start; callers wait for its end. */
interface Attempt {
  readonly isOver: Promise<void>;
  end(): void;
}

export class McpServer implements ToolServer {
  readonly id: string;
  readonly name: string;
  readonly plugin: string | undefined;
  readonly isOfUser: boolean;
  readonly clock: Clock;
  readonly #options: McpServerOptions;
  readonly #tokens: Tokens;
  #state: McpServerState = { kind: 'stopped' };
  #tools = NO_TOOLS;
  #resource: string | undefined;
  #connection: Connection | undefined;
  /** From a start to the stop. */
  #life: AbortController | undefined;
  /** Resolves when all lives so far are over, and those of its predecessor. */
  #over: Promise<void> | undefined;
  #retries = 0;
  /** Ended while its session rests: its tools stay listed, and a call starts it. */
  #isResting = false;
  /** Set from the beginning of a start until it has succeeded or failed. */
  #attempt: Attempt | undefined;
  /** The calls that run, oldest first, each with the signal of its end. */
  readonly #calls = new Map<ServerCallOptions, AbortSignal>();
  /** How many questions of it wait for an answer. */
  #questions = 0;

  constructor(options: McpServerOptions) {
    this.#options = options;
    this.id = options.id;
    this.name = options.name;
    this.plugin = options.plugin;
    this.isOfUser = options.isOfUser ?? false;
    this.clock = options.clock;
    this.#over = options.after;
    this.#tokens = new Tokens(secretsOf(options.config));
  }

  get state(): McpServerState {
    return this.#state;
  }

  /** The resource that it last wanted a token for. */
  get resource(): string | undefined {
    return this.#resource;
  }

  /** The tools that can be called now: none unless the server is ready. */
  get tools(): readonly HostTool[] {
    return this.#state.kind === 'ready' ? this.#tools : NO_TOOLS;
  }

  /** Does nothing when it runs, or tries to. */
  start(): void {
    if (this.#life) return;
    const life = new AbortController();
    this.#life = life;
    this.#retries = 0;
    this.#attempt = this.#newAttempt();
    // A process that is still ending is waited for: two of a kind may get into each other's way.
    this.#over = this.#over ? this.#over.then(() => this.#live(life)) : this.#live(life);
  }

  /** Overrides a start at any moment. Returns when nothing of the server is left. */
  async stop(): Promise<void> {
    this.#end();
    this.#isResting = false;
    this.#tools = NO_TOOLS;
    this.#set({ kind: 'stopped' });
    await this.#over;
  }

  /**
   * Ends its process or connection while no call runs. Keeps its state and its tools; a start or a call brings it back.
   */
  async rest(): Promise<void> {
    if (!this.#life) return;
    this.#isResting = this.#state.kind === 'ready';
    this.#end();
    if (this.#state.kind === 'starting') this.#set({ kind: 'stopped' });
    await this.#over;
  }

  #end(): void {
    this.#life?.abort();
    this.#life = undefined;
    this.#attempt?.end();
  }

  /** Whether it is on its way, also when its tools are still known from before. */
  get isStarting(): boolean {
    return this.#attempt !== undefined;
  }

  /** A person signed in. The token stays in memory; false when it cannot be one. */
  authenticate(token: string): boolean {
    return this.#tokens.set(token);
  }

  async call(tool: string, input: Record<string, unknown>, options: ServerCallOptions): Promise<McpResult> {
    if (this.#isResting) this.start();
    const over = new AbortController();
    this.#calls.set(options, over.signal);
    try {
      if (this.#isResting && this.#attempt) await untilAborted(options.signal, this.#attempt.isOver).catch(() => {});
      return await callTool(this.#connection, { server: this.name, tool, input, tokens: this.#tokens }, options);
    } finally {
      this.#calls.delete(options);
      over.abort();
    }
  }

  /** A question of the server belongs to the newest call that runs, and ends with it; there may also be no call. */
  async #elicit(params: Elicitation, signal: AbortSignal): Promise<ElicitResult> {
    const { people } = this.#options;
    const [call, over] = [...this.#calls].at(-1) ?? [];
    const ask = call?.ask ?? people?.ask;
    if (!people || !ask) return { action: 'cancel' };
    if (this.#questions >= MCP_ELICIT_OPEN_MAX)
      throw new ElicitationError(`${MCP_ELICIT_OPEN_MAX} questions of this server wait for an answer already.`);
    this.#questions += 1;
    try {
      return await elicit(this.name, params, { ...people, ask }, over ? AbortSignal.any([signal, over]) : signal);
    } finally {
      this.#questions -= 1;
    }
  }

  async #live(life: AbortController): Promise<void> {
    const { signal } = life;
    while (!signal.aborted) {
      const end = await this.#connect(signal);
      if (signal.aborted) return;
      if (this.#isResting) this.#tools = NO_TOOLS;
      this.#isResting = false;
      this.#attempt?.end();
      if (end.kind === 'authRequired') {
        this.#resource = end.resource.resource;
        this.#set(end);
        await this.#tokens.arrival(signal);
        continue;
      }
      this.#fail(end.message);
      await pause(this.clock, retryDelayMs(this.#retries), signal);
      this.#retries += 1;
    }
  }

  #newAttempt(): Attempt {
    let finish = () => {};
    const isOver = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const end = (): void => {
      this.#attempt = undefined;
      finish();
    };
    return { isOver, end };
  }

  /** One connection, from its beginning to its end. */
  async #connect(signal: AbortSignal): Promise<LinkEnd> {
    // A person who signs in waits for "ready", not for another "starting".
    const isQuiet = this.#isResting || this.#state.kind === 'authRequired' || this.#retries > MCP_RETRIES_SHOWN;
    this.#attempt ??= this.#newAttempt();
    if (!isQuiet) this.#set({ kind: 'starting' });
    const { config, folder, env = process.env } = this.#options;
    const ending = new AbortController();
    const connection: Connection = new Connection({
      ...{ config, folder, env, clock: this.clock, tokens: this.#tokens },
      toolsChanged: () => tools.changed(),
      elicit: (params, asking) => this.#elicit(params, asking),
    });
    const tools = this.#toolsOf(connection, ending.signal);
    const close = (): void => void connection.close();
    signal.addEventListener('abort', close, { once: true });
    try {
      const started = connection.open().then(() => tools.open());
      await within(this.clock, MCP_START_TIMEOUT_MS, started, tooSlow);
      return await this.#serve(connection);
    } catch (error) {
      return await connection.endBy(error);
    } finally {
      this.#connection = undefined;
      if (!this.#isResting) this.#tools = NO_TOOLS;
      ending.abort();
      signal.removeEventListener('abort', close);
      await connection.close();
    }
  }

  async #serve(connection: Connection): Promise<LinkEnd> {
    if (connection.isOver) return connection.ended;
    this.#connection = connection;
    this.#isResting = false;
    this.#attempt?.end();
    this.#set({ kind: 'ready' });
    const disarm = this.clock.after(MCP_STABLE_MS, () => {
      this.#retries = 0;
    });
    return connection.ended.finally(disarm);
  }

  #toolsOf(connection: Connection, signal: AbortSignal): ToolSet {
    const warn = (message: string, fields: Record<string, string | number>): void =>
      this.#options.logger.log('warn', message, { server: this.name, ...fields });
    const read = ({ tools, leftOut }: ToolListing): void => {
      if (leftOut > 0) warn('Some tools of an MCP server are left out', { leftOut });
      this.#tools = tools.map((tool) => hostToolOf(tool, this));
      if (this.#state.kind === 'ready') this.#options.changed();
    };
    const failed = (error: unknown): void =>
      warn('The tools of an MCP server could not be read again', { reason: this.#tokens.hide(wordsOf(error)) });
    return new ToolSet({ connection, clock: this.clock, signal, read, failed });
  }

  #fail(message: string): void {
    const shown = this.#tokens.hide(message);
    if (this.#state.kind === 'error' && isSameFailure(this.#state.message, shown)) return;
    this.#options.logger.log('warn', 'An MCP server failed', { server: this.name, reason: shown });
    this.#set({ kind: 'error', message: shown });
  }

  #set(state: McpServerState): void {
    if (state.kind === 'stopped' && this.#state.kind === 'stopped') return;
    this.#state = state;
    this.#options.changed();
  }
}

/** Failures that differ only in times, process ids and the like are the same: reporting each would fill the log. */
function isSameFailure(one: string, other: string): boolean {
  const [first, second] = [one, other].map((message) => message.replace(/[0-9a-f-]{4,}|\d+/gi, '#'));
  return first === second;
}

function tooSlow(): never {
  throw new Error(`The server did not answer within ${MCP_START_TIMEOUT_MS / 1_000} s of its start.`);
}

/** A failed server is started again after 1, 2, 4, 5, 5 … seconds. */
export function retryDelayMs(retries: number): number {
  return Math.min(MCP_RETRY_FIRST_MS * 2 ** retries, MCP_RETRY_MAX_MS);
}
