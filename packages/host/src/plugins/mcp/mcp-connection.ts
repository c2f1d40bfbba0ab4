/** One connection to a server, from the first byte to the last. It can be opened once. */

import type { Clock } from '@atrium/core/util/clock.js';
import { childEnvironment } from '@atrium/core/util/processes.js';
import { shorten } from '@atrium/core/util/text.js';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { ElicitResult } from '@modelcontextprotocol/sdk/types.js';
import { type McpRemoteConfig, type McpServerConfig, serverEnvironment } from '../formats/mcp-declarations.js';
import type { Tokens } from './authorization.js';
import { type Elicitation, ElicitationError } from './elicitation.js';
import { HttpLink, type RemoteKind, reach } from './http-link.js';
import { MCP_TEXT_MAX_CHARACTERS } from './limits.js';
import {
  type HttpSdk,
  type Link,
  type LinkEnd,
  loadHttpSdk,
  loadSdk,
  lost,
  type McpAuthRequired,
  RefusedError,
  type Sdk,
} from './mcp-link.js';
import { StdioLink } from './stdio-link.js';

export interface ConnectionOptions {
  readonly config: McpServerConfig;
  readonly clock: Clock;
  readonly tokens: Tokens;
  readonly folder: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  toolsChanged(): void;
  promptsChanged(): void;
  /** The folders of the session as URIs, which servers call roots. */
  roots(): readonly string[];
  /** The server asks the person a question. Throws an `ElicitationError` when it cannot be asked. */
  elicit(params: Elicitation, signal: AbortSignal): Promise<ElicitResult>;
}

export type CallOptions = Pick<RequestOptions, 'signal' | 'onprogress'>;

/** The host enforces its own time limits, so the SDK's limit is as long as a timer allows. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

export class Connection {
  readonly #options: ConnectionOptions;
  #sdk: Sdk | undefined;
  #client: Client | undefined;
  #link: Link | undefined;
  #isClosed = false;
  /** How many requests wait for their answers. */
  #pending = 0;
  #idle: () => void = () => {};

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** Whether no request can be sent any more. */
  get isOver(): boolean {
    return this.#isClosed || this.#link?.isOver === true;
  }

  get ended(): Promise<LinkEnd> {
    return this.#link?.ended ?? Promise.resolve(lost('The connection was closed.'));
  }

  get hasTools(): boolean {
    return this.#client?.getServerCapabilities()?.tools !== undefined;
  }

  get hasPrompts(): boolean {
    return this.#client?.getServerCapabilities()?.prompts !== undefined;
  }

  /** Resolves when the server has introduced itself. */
  async open(): Promise<void> {
    const { config, clock, folder, env } = this.#options;
    const sdk = await loadSdk();
    this.#sdk = sdk;
    if (config.transport !== 'stdio') return this.#openRemote(config);
    const place = { clock, folder, env: serverEnvironment(childEnvironment(env), config) };
    await this.#introduce(() => new StdioLink(sdk, config, place));
  }

  async #openRemote(config: McpRemoteConfig): Promise<void> {
    const [sdk] = await Promise.all([loadHttpSdk(), reach(new URL(config.url), this.#options.clock)]);
    const linkOf = (kind: RemoteKind) => () => new HttpLink(sdk, config, kind, this.#options);
    try {
      await this.#introduce(linkOf(config.transport));
    } catch (error) {
      if (config.transport === 'sse' || this.isOver || !isOlderServer(sdk, error)) throw error;
      await this.#link?.close();
      // If that fails as well, the first error says more about the cause.
      await this.#introduce(linkOf('sse')).catch((second: unknown) => {
        throw this.isOver ? second : error;
      });
    }
  }

  async #introduce(linkOf: () => Link): Promise<void> {
    if (this.#isClosed || !this.#sdk) throw new Error('The connection was closed.');
    const { Client, ToolListChangedNotificationSchema, PromptListChangedNotificationSchema } = this.#sdk;
    const capabilities = { elicitation: { form: {}, url: {} }, roots: { listChanged: true } };
    const client = new Client({ name: 'atrium', version: '0.1.0' }, { capabilities });
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => this.#options.toolsChanged());
    client.setNotificationHandler(PromptListChangedNotificationSchema, () => this.#options.promptsChanged());
    this.#answerRequests(client, this.#sdk);
    this.#client = client;
    const link = linkOf();
    this.#link = link;
    // The SDK does not always notice that a link ends while it opens, because it does not close a stream that never
    // opened.
    const cutOff = link.ended.then((end) => {
      throw new Error(end.kind === 'lost' ? end.message : 'The server needs you to sign in.');
    });
    cutOff.catch(() => {});
    await Promise.race([client.connect(link.transport, { timeout: NO_TIMEOUT_MS }), cutOff]);
  }

  /** A server may ask a person a question, and request the folders of the session; nothing else. */
  #answerRequests(client: Client, { ElicitRequestSchema, ListRootsRequestSchema, ErrorCode, McpError }: Sdk): void {
    client.setRequestHandler(ElicitRequestSchema, async ({ params }, { signal }) => {
      try {
        return await this.#options.elicit(params, signal);
      } catch (error) {
        if (error instanceof ElicitationError) throw new McpError(ErrorCode.InvalidParams, error.message);
        throw error;
      }
    });
    client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: this.#options.roots().map((uri) => ({ uri })) }));
    client.fallbackRequestHandler = async ({ method }) => {
      const what = method === 'sampling/createMessage' ? 'sampling' : method;
      throw new McpError(ErrorCode.MethodNotFound, `This host (Atrium) does not offer ${what} to MCP servers.`);
    };
  }

  async request(method: string, params: Record<string, unknown>, options: CallOptions = {}) {
    if (!this.#client || !this.#sdk) throw new Error('The connection is not open.');
    const { ResultSchema } = this.#sdk;
    this.#pending += 1;
    try {
      return await this.#client.request({ method, params }, ResultSchema, { ...options, timeout: NO_TIMEOUT_MS });
    } finally {
      this.#pending -= 1;
      if (this.#pending === 0) this.#idle();
    }
  }

  /** The folders of the session have changed. */
  async rootsChanged(): Promise<void> {
    if (!this.isOver) await this.#client?.sendRootsListChanged();
  }

  /** The token has expired or was revoked; nothing new may be sent. */
  lapse(reason: McpAuthRequired): void {
    this.#link?.lapse?.(reason);
  }

  /** Closes as soon as the requests under way have their answers, or the signal fires. */
  async retire(signal: AbortSignal): Promise<void> {
    if (this.#pending > 0 && !signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#idle = resolve;
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
    }
    await this.close();
  }

  /** How the connection ended, given an error. If the link is over, it knows the reason better. */
  async endBy(error: unknown): Promise<LinkEnd> {
    if (this.#link?.isOver) return this.#link.ended;
    if (error instanceof RefusedError) return error.requirement;
    return lost(errorMessageOf(error));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#link?.close();
  }
}

/** A server from before streamable HTTP cannot handle its first message. */
function isOlderServer({ StreamableHTTPError }: HttpSdk, error: unknown): boolean {
  return error instanceof StreamableHTTPError && [400, 404, 405].includes(error.code ?? 0);
}

export function errorMessageOf(error: unknown): string {
  if (!(error instanceof Error)) return shorten(String(error), MCP_TEXT_MAX_CHARACTERS);
  const status = 'code' in error && typeof error.code === 'number' && error.code >= 300 ? error.code : undefined;
  const lead = status === undefined ? '' : `The server answered with HTTP status ${status}. `;
  return shorten(lead + error.message, MCP_TEXT_MAX_CHARACTERS);
}
