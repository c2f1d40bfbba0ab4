/** The way to a server at an address: today's streamable HTTP, or the older pair of a stream and posts. */
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { Clock } from '../../core/util/clock.js';
import { shorten } from '../../core/util/text.js';
import { within } from '../../core/util/waiting.js';
import type { McpRemoteConfig } from '../customizations/parse/mcp-config.js';
import { MCP_GOODBYE_MS, MCP_RESOURCE_TIMEOUT_MS, MCP_WORDS_MAX_CHARACTERS } from './limits.js';
import { type Link, type LinkEnd, lost } from './link.js';
import { protectedResource } from './protected-resource.js';
import type { HttpSdk } from './sdk.js';
import { type Refusal, type RemoteKind, serverFetch } from './server-fetch.js';
import type { McpAuthRequired } from './state.js';
import type { Tokens } from './tokens.js';

export interface HttpPlace {
  readonly clock: Clock;
  readonly tokens: Tokens;
}

export class HttpLink implements Link {
  readonly transport: Transport;
  readonly ended: Promise<LinkEnd>;
  readonly #sdk: HttpSdk;
  readonly #url: URL;
  readonly #place: HttpPlace;
  readonly #closing = new AbortController();
  readonly #goodbye: () => Promise<void>;
  #resolve: (end: LinkEnd | Promise<LinkEnd>) => void = () => {};
  #isOver = false;

  constructor(sdk: HttpSdk, config: McpRemoteConfig, kind: RemoteKind, place: HttpPlace) {
    this.#sdk = sdk;
    this.#url = new URL(config.url);
    this.#place = place;
    this.ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    const watch = {
      refused: (refusal: Refusal) => this.#end(() => this.#authRequired(refusal)),
      lost: (message: string) => this.#end(() => lost(message)),
    };
    const options = { fetch: serverFetch(config, kind, { tokens: place.tokens, watch }) };
    if (kind === 'sse') {
      this.transport = new sdk.SSEClientTransport(this.#url, options);
      this.#goodbye = async () => {};
    } else {
      const transport = new sdk.StreamableHTTPClientTransport(this.#url, options);
      this.transport = transport;
      this.#goodbye = () => transport.terminateSession();
    }
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    if (this.#isOver) return void (await this.ended);
    this.#isOver = true;
    // A server that cannot even be told forgets the session by itself some day.
    await within(this.#place.clock, MCP_GOODBYE_MS, this.#goodbye(), () => {}).catch(() => {});
    await this.transport.close();
    this.#resolve(lost('The connection was closed.'));
  }

  #end(reason: () => LinkEnd | Promise<LinkEnd>): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#resolve(reason());
    // Not at once: the SDK still has the answer in hand that tells it about the end.
    queueMicrotask(() => void this.transport.close());
  }

  async #authRequired({ response, token }: Refusal): Promise<McpAuthRequired> {
    if (token !== undefined) this.#place.tokens.drop(token);
    const { resourceMetadataUrl, scope, error } = this.#sdk.extractWWWAuthenticateParams(response);
    const isScopeMissing = error === 'insufficient_scope';
    const timeout = new AbortController();
    const disarm = this.#place.clock.after(MCP_RESOURCE_TIMEOUT_MS, () => timeout.abort());
    const signal = AbortSignal.any([timeout.signal, this.#closing.signal]);
    const resource = await protectedResource(this.#url, resourceMetadataUrl, signal).finally(disarm);
    return {
      kind: 'authRequired',
      resource,
      reason: token === undefined || isScopeMissing ? 'required' : 'expired',
      ...(scope && { message: shorten(`Needed scopes: ${scope}`, MCP_WORDS_MAX_CHARACTERS) }),
    };
  }
}
