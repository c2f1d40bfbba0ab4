/** Tokens for servers, the secrets in their declarations, and the information of a server about signing in. */

import { isRecord } from '@atrium/core/util/shape.js';
import type { ProtectedResourceMetadata } from '@atrium/protocol/ahp-1';
import type { McpServerConfig } from '../formats/mcp-declarations.js';
import {
  MCP_RESOURCE_MAX_BYTES,
  MCP_RESOURCE_MAX_ITEMS,
  MCP_RESOURCE_TEXT_MAX_CHARACTERS,
  MCP_TOKEN_MAX_CHARACTERS,
} from './limits.js';

/** Characters that a header may contain. Any other would break the request, and might appear in an error about it. */
const FIT_FOR_HEADER = /^[\x21-\x7e]+$/;

/** The token that a person got for one server. It is kept in memory only, and sent to no other server. */
export class Tokens {
  #token: string | undefined;
  #scopes: readonly string[] = [];
  #came: () => void = () => {};

  /** `secrets`: values of its declaration that must not be shown. */
  constructor(private readonly secrets: readonly string[] = []) {}

  get current(): string | undefined {
    return this.#token;
  }

  /** The rights of the token, as the client that brought it stated them. */
  get scopes(): readonly string[] {
    return this.#scopes;
  }

  /** Replaces the token. False when the text cannot be a token. */
  set(token: string, scopes: readonly string[] = []): boolean {
    if (token.length > MCP_TOKEN_MAX_CHARACTERS || !FIT_FOR_HEADER.test(token)) return false;
    this.#token = token;
    this.#scopes = scopes;
    this.#came();
    return true;
  }

  /** Resolves when there is a token, or when the signal fires. */
  async arrival(signal: AbortSignal): Promise<void> {
    if (this.#token !== undefined || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        signal.removeEventListener('abort', end);
        resolve();
      };
      this.#came = end;
      signal.addEventListener('abort', end, { once: true });
    });
  }

  /** The server refused this token, or it has expired. Keeps a token that came meanwhile. */
  drop(refused: string): void {
    if (this.#token === refused) this.#token = undefined;
  }

  /** Hides the token and the secrets in a text of the server, which may repeat what it received. */
  hide(text: string): string {
    const hidden = this.#token === undefined ? this.secrets : [this.#token, ...this.secrets];
    return hidden.reduce((shown, secret) => shown.replaceAll(secret, '[hidden]'), text);
  }
}

const SECRET_NAME = /TOKEN|KEY|SECRET|PASSW|AUTH|CREDENTIAL/i;
/** Shorter values are not keys, and hiding them would garble harmless words. */
const SECRET_MIN_CHARACTERS = 8;

/** The values of a declaration that are keys, because error messages often repeat a server's settings. */
export function secretsOf(config: McpServerConfig): string[] {
  const named = Object.entries(config.transport === 'stdio' ? config.env : config.headers);
  return named.flatMap(([name, value]) => (value !== null && SECRET_NAME.test(name) ? componentsOf(value) : []));
}

/** Both forms of a value such as `Bearer abc…`. */
function componentsOf(value: string): string[] {
  return [value, ...value.split(' ')].filter((part) => part.length >= SECRET_MIN_CHARACTERS);
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/**
 * Reads the information about signing in from a server that refuses a request (RFC 9728). Believes only the server
 * itself, and only about itself: a description of another resource would make people hand over tokens that are meant
 * for others. Never fails: without a description, the address of the server is the resource.
 */
export async function protectedResource(
  server: URL,
  named: URL | undefined,
  signal: AbortSignal,
): Promise<ProtectedResourceMetadata> {
  for (const place of placesOf(server, named)) {
    const described = describedBy(await readJson(place, signal), server);
    if (described) return described;
  }
  return { resource: withoutExtras(server) };
}

/** The address that the server names, then the two standard ones. */
function placesOf(server: URL, named: URL | undefined): URL[] {
  const path = server.pathname === '/' ? [] : [new URL(WELL_KNOWN + server.pathname, server.origin)];
  const usual = [...path, new URL(WELL_KNOWN, server.origin)];
  return named?.origin === server.origin ? [named, ...usual] : usual;
}

async function readJson(place: URL, signal: AbortSignal): Promise<unknown> {
  try {
    const response = await fetch(place, { signal, redirect: 'error', headers: { accept: 'application/json' } });
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (!response.ok || bytes > MCP_RESOURCE_MAX_BYTES) return undefined;
      chunks.push(chunk);
    }
    return response.ok ? JSON.parse(Buffer.concat(chunks).toString('utf8')) : undefined;
  } catch {
    return undefined;
  }
}

const TEXTS = [
  'resource_name',
  'jwks_uri',
  'resource_documentation',
  'resource_policy_uri',
  'resource_tos_uri',
] as const;
const LISTS = [
  'scopes_supported',
  'bearer_methods_supported',
  'resource_signing_alg_values_supported',
  'resource_encryption_alg_values_supported',
  'resource_encryption_enc_values_supported',
] as const;

function describedBy(value: unknown, server: URL): ProtectedResourceMetadata | undefined {
  if (!isRecord(value) || !isText(value.resource) || !covers(value.resource, server)) return undefined;
  const texts = TEXTS.flatMap((key) => (isText(value[key]) ? [[key, value[key]]] : []));
  const lists = LISTS.flatMap((key) => (Array.isArray(value[key]) ? [[key, textsOf(value[key])]] : []));
  const issuers = Array.isArray(value.authorization_servers) ? textsOf(value.authorization_servers).filter(isWeb) : [];
  return {
    resource: value.resource,
    ...Object.fromEntries([...texts, ...lists]),
    ...(issuers.length > 0 && { authorization_servers: issuers }),
  };
}

/** Whether a server belongs to a resource: the same origin, and the same path or one above it. */
function covers(resource: string, server: URL): boolean {
  if (!URL.canParse(resource)) return false;
  const { origin, pathname } = new URL(resource);
  const above = pathname.endsWith('/') ? pathname : `${pathname}/`;
  return origin === server.origin && `${server.pathname}/`.startsWith(above);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MCP_RESOURCE_TEXT_MAX_CHARACTERS;
}

function textsOf(values: readonly unknown[]): string[] {
  return values.slice(0, MCP_RESOURCE_MAX_ITEMS).filter(isText);
}

function isWeb(address: string): boolean {
  return /^https?:\/\//i.test(address) && URL.canParse(address);
}

function withoutExtras({ origin, pathname }: URL): string {
  return pathname === '/' ? origin : origin + pathname;
}
