/** Signing in to what an agent or a server asks for. Tokens go to the host at once and are kept nowhere here. */
import type { Client } from '@atrium/client';
import { ErrorCode, type ProtectedResourceMetadata } from '@atrium/protocol';
import { codeOf } from './problem.js';

/** What an error says has to be signed in to; empty for any other error. Some hosts send the bare list. */
export function neededTokens(error: unknown): readonly ProtectedResourceMetadata[] {
  if (codeOf(error) !== ErrorCode.AuthRequired) return [];
  const { data } = error as { data?: unknown };
  const list = Array.isArray(data) ? data : (data as { resources?: unknown } | undefined)?.resources;
  return Array.isArray(list) ? list.filter(isMetadata) : [];
}

function isMetadata(value: unknown): value is ProtectedResourceMetadata {
  return typeof value === 'object' && value !== null && 'resource' in value && typeof value.resource === 'string';
}

export async function signIn(client: Client, resource: string, token: string): Promise<void> {
  await client.request('authenticate', { resource, token: token.trim() });
}

export function resourceName({ resource, resource_name }: ProtectedResourceMetadata): string {
  return resource_name ?? resource;
}
