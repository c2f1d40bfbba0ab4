/**
 * What a server that refuses us says about signing in (RFC 9728). Only the server itself is believed, and only about
 * itself: a description that names somebody else's resource would make people hand over tokens meant for others.
 */
import type { ProtectedResourceMetadata } from '@atrium/protocol';
import { isRecord } from '../../core/util/shape.js';
import { MCP_RESOURCE_MAX_BYTES, MCP_RESOURCE_MAX_ITEMS, MCP_RESOURCE_TEXT_MAX_CHARACTERS } from './limits.js';

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/** Never fails: without a description, all that is known of the resource is its address. */
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

/** Where the server says that it is, else the two places where it should be. */
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

/** Whether a server lies within a resource: the same origin, and the same path or one above. */
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
