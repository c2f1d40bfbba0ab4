/**
 * One MCP server of one session: starts it, restarts it when it fails, and offers its tools. Knows nothing of clients.
 */

import type { HostTool } from '@atrium/core/contracts/tool.js';
import type { Clock } from '@atrium/core/util/clock.js';
import type { Logger } from '@atrium/core/util/logger.js';
import { coalesced } from '@atrium/core/util/scheduling.js';
import { type TokenGrant, tokenTimer } from '@atrium/core/util/token-grant.js';
import { pause, untilAborted, within } from '@atrium/core/util/waiting.js';
import type { McpAuthRequirement } from '@atrium/protocol/ahp-1';
import type { ElicitResult } from '@modelcontextprotocol/sdk/types.js';
import type { McpServerConfig } from '../formats/mcp-declarations.js';
import { secretsOf, Tokens } from './authorization.js';
import { type Elicitation, ElicitationError, elicit, type People } from './elicitation.js';
import {
  MCP_ELICIT_OPEN_MAX,
  MCP_PROMPT_TIMEOUT_MS,
  MCP_RETRIES_SHOWN,
  MCP_RETRY_FIRST_MS,
  MCP_RETRY_MAX_MS,
  MCP_SIGN_IN_ROUNDS_MAX,
  MCP_SIGN_IN_TIMEOUT_MS,
  MCP_STABLE_MS,
  MCP_START_TIMEOUT_MS,
  MCP_TOOLS_REFRESH_EVERY_MS,
  MCP_TOOLS_TIMEOUT_MS,
} from './limits.js';
import { Connection, errorMessageOf } from './mcp-connection.js';
import type { LinkEnd, McpAuthRequired } from './mcp-link.js';
import {
  callTool,
  hostToolOf,
  type McpResult,
  type ServerCallOptions,
  SignInNeeded,
  type ToolServer,
} from './mcp-tool.js';
import { type McpPrompt, promptText, readPrompts } from './prompts.js';
import { SignInWaits } from './sign-in.js';
import { type ToolListing, ToolSet } from './tool-list.js';

export interface McpServerOptions {
  /** The id of its customization. */
  readonly id: string;
  readonly name: string;
  /** The plugin that declares it; absent for a server in the host's configuration. */
  readonly plugin?: string | undefined;
  /** Whether the user declared it; if so, the host believes its claims about its tools. */
  readonly isOfUser?: boolean | undefined;
  readonly config: McpServerConfig;
  /** The folders of the session, as URIs. */
  readonly roots?: (() => readonly string[]) | undefined;
  /** The folder of the process if the declaration names none: the session's folder. */
  readonly folder?: string | undefined;
  /** The environment that a process inherits; by default the host's. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Resolves when the previous server has ended, which may hold a port or a file; this one starts afterwards. */
  readonly after?: Promise<void> | undefined;
  /** Asks the people of the session; without it, questions count as cancelled. */
  readonly people?: People | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The state or the tools have changed. */
  changed(): void;
  /** A call needs a token with more rights; the server itself stays as it is. */
  callRefused?(requirement: McpAuthRequired): void;
}

/** What clients see of a server. Never contains a token. */
export type McpServerState =
  /** Declared but not started, switched off, or shut down. */
  | { readonly kind: 'stopped' }
  | { readonly kind: 'starting' }
  | { readonly kind: 'ready' }
  | McpAuthRequired
  | { readonly kind: 'error'; readonly message: string };

const NO_TOOLS: readonly HostTool[] = [];
const NO_PROMPTS: readonly McpPrompt[] = [];

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
  #prompts = NO_PROMPTS;
  /** The last requirement of a token. */
  #requirement: McpAuthRequired | undefined;
  #disarmExpiry: () => void = () => {};
  /** Calls that wait for a person to sign in. */
  readonly #waits = new SignInWaits();
  /** Connections that only wait for answers to their last requests. */
  readonly #retiring = new Set<Promise<void>>();
  #connection: Connection | undefined;
  /** Lives from a start to the stop. */
  #life: AbortController | undefined;
  /** Resolves when all its lives so far, and those of its predecessor, have ended. */
  #over: Promise<void> | undefined;
  #retries = 0;
  /** The server was ended because its session is idle: its tools stay listed, and a call starts it. */
  #isSuspended = false;
  /** Set from the beginning of a start until it has succeeded or failed. */
  #attempt: Attempt | undefined;
  /** The calls under way, oldest first, each with the signal of its end. */
  readonly #calls = new Map<ServerCallOptions, AbortSignal>();
  /** How many of its questions wait for an answer. */
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

  /** The resource of the last requirement of a token. */
  get resource(): string | undefined {
    return this.#requirement?.resource.resource;
  }

  /** The tools that can be called now. If the server refused its token, their calls wait for another one. */
  get tools(): readonly HostTool[] {
    return this.#state.kind === 'ready' || this.#state.kind === 'authRequired' ? this.#tools : NO_TOOLS;
  }

  /** The prompts that people can use now. */
  get prompts(): readonly McpPrompt[] {
    return this.#state.kind === 'ready' || this.#state.kind === 'authRequired' ? this.#prompts : NO_PROMPTS;
  }

  /** The text of a prompt, expanded by the server. Errors are worded for the person who used it. */
  async promptText(name: string, args: Readonly<Record<string, string>>, signal: AbortSignal): Promise<string> {
    if (this.#isSuspended) this.start();
    if (this.#attempt) await untilAborted(signal, this.#attempt.isOver);
    if (!this.#connection) throw new Error(`The MCP server ${this.name} is not running now.`);
    const asked = this.#connection.request('prompts/get', { name, arguments: args }, { signal });
    try {
      return promptText(await within(this.clock, MCP_PROMPT_TIMEOUT_MS, asked, noPromptInTime));
    } catch (error) {
      throw new Error(
        `The MCP server ${this.name} did not give its prompt: ${this.#tokens.hide(errorMessageOf(error))}`,
      );
    }
  }

  /** Does nothing while the server runs or starts. */
  start(): void {
    if (this.#life) return;
    const life = new AbortController();
    this.#life = life;
    this.#retries = 0;
    this.#attempt = this.#newAttempt();
    // Waits for a process that is still ending, because two instances may conflict.
    this.#over = this.#over ? this.#over.then(() => this.#live(life)) : this.#live(life);
  }

  /** May interrupt a start at any moment. Resolves when nothing of the server is left. */
  async stop(): Promise<void> {
    this.#end();
    this.#isSuspended = false;
    this.#forgetOffers();
    this.#disarmExpiry();
    this.#set({ kind: 'stopped' });
    await Promise.all([this.#over, ...this.#retiring]);
  }

  /**
   * Ends the process or connection unless a call is running. Keeps its state and its tools; a start or a call restarts
   * it.
   */
  async suspend(): Promise<void> {
    if (!this.#life) return;
    this.#isSuspended = this.#state.kind === 'ready';
    this.#end();
    if (this.#state.kind === 'starting') this.#set({ kind: 'stopped' });
    await this.#over;
  }

  #forgetOffers(): void {
    this.#tools = NO_TOOLS;
    this.#prompts = NO_PROMPTS;
  }

  #end(): void {
    this.#life?.abort();
    this.#life = undefined;
    this.#attempt?.end();
  }

  /** The folders of the session have changed. */
  rootsChanged(): void {
    this.#connection?.rootsChanged().catch(() => {});
  }

  /** Whether it is starting, even if its tools are known from before. */
  get isStarting(): boolean {
    return this.#attempt !== undefined;
  }

  /**
   * A person signed in. The token stays in memory; false if it cannot be a token. An empty token removes the previous
   * one.
   */
  authenticate({ token, expiresIn, scopes }: TokenGrant): boolean {
    if (token === '') {
      this.#lapse(this.#tokens.current, 'required');
      return true;
    }
    if (!this.#tokens.set(token, scopes)) return false;
    this.#disarmExpiry();
    this.#disarmExpiry = tokenTimer(this.clock, expiresIn, () => this.#lapse(token, 'expired'));
    this.#waits.recheck();
    if (this.#isSuspended && this.#state.kind === 'authRequired') this.start();
    return true;
  }

  /** A token is no longer valid. Requests that were sent with it still get their answers. */
  #lapse(token: string | undefined, reason: McpAuthRequired['reason']): void {
    if (token === undefined || this.#tokens.current !== token) return;
    this.#tokens.drop(token);
    this.#disarmExpiry();
    if (!this.#requirement) return;
    const requirement: McpAuthRequired = { ...this.#requirement, reason };
    if (this.#connection) this.#connection.lapse(requirement);
    else if (this.#isSuspended) this.#set(requirement);
  }

  async call(tool: string, input: Record<string, unknown>, options: ServerCallOptions): Promise<McpResult> {
    if (this.#isSuspended) this.start();
    const over = new AbortController();
    this.#calls.set(options, over.signal);
    try {
      if (this.#isSuspended && this.#attempt) await untilAborted(options.signal, this.#attempt.isOver).catch(() => {});
      return await this.#callSignedIn(tool, input, options);
    } finally {
      this.#calls.delete(options);
      over.abort();
    }
  }

  /**
   * Sends the call again when a person has signed in. That is safe because the server said that it did nothing of the
   * call.
   */
  async #callSignedIn(tool: string, input: Record<string, unknown>, options: ServerCallOptions): Promise<McpResult> {
    let next = (): Promise<McpResult> => this.#callOnce(tool, input, options);
    for (let round = 0; ; round += 1) {
      try {
        return await next();
      } catch (error) {
        if (!(error instanceof SignInNeeded) || !options.signIn || round >= MCP_SIGN_IN_ROUNDS_MAX) throw error;
        const { signIn } = options;
        next = async () => {
          await signIn(shownRequirement(error.requirement), this.#signedIn(error, options.signal));
          return this.#callOnce(tool, input, options);
        };
      }
    }
  }

  #callOnce(tool: string, input: Record<string, unknown>, options: ServerCallOptions): Promise<McpResult> {
    const { name: server } = this;
    if (this.#state.kind === 'authRequired') throw new SignInNeeded(server, this.#state, this.#tokens.current);
    return callTool(this.#connection, { server, tool, input, tokens: this.#tokens }, options);
  }

  /** Resolves when the server can be tried with another token. Rejects when no other token can be expected. */
  #signedIn({ requirement, token }: SignInNeeded, signal: AbortSignal): Promise<void> {
    if (requirement.reason === 'insufficientScope') {
      this.#requirement = requirement;
      this.#options.callRefused?.(requirement);
    }
    let asked = this.#state.kind === 'authRequired' ? this.#state : undefined;
    return this.#waits.until(
      { clock: this.clock, signal, timeoutMs: MCP_SIGN_IN_TIMEOUT_MS, server: this.name },
      () => {
        const { current } = this.#tokens;
        const { kind } = this.#state;
        if (kind === 'ready' && current !== undefined && current !== token && this.#connection?.isOver === false)
          return 'signed-in';
        if (kind === 'stopped' || kind === 'error') return 'lost';
        if (this.#state.kind !== 'authRequired' || this.#state === asked) return undefined;
        const isRefusedAgain = asked !== undefined;
        asked = this.#state;
        return isRefusedAgain ? new SignInNeeded(this.name, asked, token) : undefined;
      },
    );
  }

  /** A question of the server belongs to the newest running call, if any, and ends with it. */
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
      if (this.#isSuspended) this.#forgetOffers();
      this.#isSuspended = false;
      this.#attempt?.end();
      if (end.kind === 'authRequired') {
        this.#requirement = end;
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
    const isQuiet = this.#isSuspended || this.#state.kind === 'authRequired' || this.#retries > MCP_RETRIES_SHOWN;
    this.#attempt ??= this.#newAttempt();
    if (!isQuiet) this.#set({ kind: 'starting' });
    const { config, folder, env = process.env } = this.#options;
    const ending = new AbortController();
    const connection: Connection = new Connection({
      ...{ config, folder, env, clock: this.clock, tokens: this.#tokens },
      toolsChanged: () => tools.changed(),
      promptsChanged: () => void readAgain(),
      roots: () => this.#options.roots?.() ?? [],
      elicit: (params, asking) => this.#elicit(params, asking),
    });
    const tools = this.#toolsOf(connection, ending.signal);
    const readAgain = coalesced(() => this.#readPrompts(connection, ending.signal));
    const close = (): void => void connection.close();
    signal.addEventListener('abort', close, { once: true });
    let end: LinkEnd | undefined;
    try {
      // Nothing waits for the prompts, so a server that fails to list them still offers its tools.
      const started = connection.open().then(() => {
        void readAgain();
        return tools.open();
      });
      await within(this.clock, MCP_START_TIMEOUT_MS, started, tooSlow);
      end = await this.#serve(connection);
      return end;
    } catch (error) {
      end = await connection.endBy(error);
      return end;
    } finally {
      this.#connection = undefined;
      // A server that wants another token most likely has the same tools with it.
      if (!this.#isSuspended && end?.kind !== 'authRequired') this.#forgetOffers();
      ending.abort();
      signal.removeEventListener('abort', close);
      if (end?.kind === 'authRequired') this.#retire(connection, signal);
      else await connection.close();
    }
  }

  /** The server's life continues meanwhile: a person may sign in before the last answers arrive. */
  #retire(connection: Connection, signal: AbortSignal): void {
    const retiring = connection.retire(signal).finally(() => this.#retiring.delete(retiring));
    this.#retiring.add(retiring);
  }

  async #serve(connection: Connection): Promise<LinkEnd> {
    if (connection.isOver) return connection.ended;
    this.#connection = connection;
    this.#isSuspended = false;
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
      warn('The tools of an MCP server could not be read again', { reason: this.#tokens.hide(errorMessageOf(error)) });
    return new ToolSet({ connection, clock: this.clock, signal, read, failed });
  }

  async #readPrompts(connection: Connection, signal: AbortSignal): Promise<void> {
    if (!connection.hasPrompts || signal.aborted) return;
    try {
      const prompts = await within(this.clock, MCP_TOOLS_TIMEOUT_MS, readPrompts(connection, this), noListInTime);
      if (signal.aborted) return;
      this.#prompts = prompts;
      if (this.#state.kind === 'ready') this.#options.changed();
    } catch (error) {
      const reason = this.#tokens.hide(errorMessageOf(error));
      this.#options.logger.log('warn', 'The prompts of an MCP server could not be read', { server: this.name, reason });
    }
    await pause(this.clock, MCP_TOOLS_REFRESH_EVERY_MS, signal);
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
    this.#waits.recheck();
  }
}

function shownRequirement({ kind: _, message, ...rest }: McpAuthRequired): McpAuthRequirement {
  return { ...rest, ...(message !== undefined && { description: message }) };
}

/** Whether two failures differ only in times, process ids and the like; reporting each would fill the log. */
function isSameFailure(one: string, other: string): boolean {
  const [first, second] = [one, other].map((message) => message.replace(/[0-9a-f-]{4,}|\d+/gi, '#'));
  return first === second;
}

function noPromptInTime(): never {
  throw new Error(`it did not answer within ${MCP_PROMPT_TIMEOUT_MS / 1_000} s.`);
}

function noListInTime(): never {
  throw new Error(`The server did not list its prompts within ${MCP_TOOLS_TIMEOUT_MS / 1_000} s.`);
}

function tooSlow(): never {
  throw new Error(`The server did not answer within ${MCP_START_TIMEOUT_MS / 1_000} s of its start.`);
}

/** The wait before a failed server is restarted: 1, 2, 4, 5, 5 … seconds. */
export function retryDelayMs(retries: number): number {
  return Math.min(MCP_RETRY_FIRST_MS * 2 ** retries, MCP_RETRY_MAX_MS);
}
