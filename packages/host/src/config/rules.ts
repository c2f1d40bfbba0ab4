/** What a schema cannot say: rules between keys. */
import type { AgentEntry, Config } from './schema.js';

export interface BrokenRule {
  readonly path: readonly string[];
  readonly message: string;
}

/** Agents that are always there; their ids are taken. */
const BUILT_IN = ['offline'];
/** Headers that carry keys. */
const SECRET_HEADER = /^(authorization|proxy-authorization|cookie|x-api-key|api-key|x-goog-api-key)$/i;

export function brokenRules({ agents = {} }: Config): BrokenRule[] {
  return Object.entries(agents).flatMap(([id, entry]) => [
    ...rulesOfName(id, entry),
    ...rulesOfAddress(id, entry),
    ...rulesOfHeaders(id, entry),
  ]);
}

function rulesOfName(id: string, entry: AgentEntry): BrokenRule[] {
  if (!('type' in entry) || !BUILT_IN.includes(id)) return [];
  return [{ path: ['agents', id], message: `agents.${id}: this is the id of a built-in agent; choose another` }];
}

function rulesOfAddress(id: string, entry: AgentEntry): BrokenRule[] {
  if (!('api' in entry) || entry.api !== 'openai-compatible' || entry.baseURL !== undefined) return [];
  const message = `agents.${id} must have "baseURL", such as http://localhost:11434/v1: there is no usual address for "openai-compatible"`;
  return [{ path: ['agents', id, 'api'], message }];
}

function rulesOfHeaders(id: string, entry: AgentEntry): BrokenRule[] {
  const names = Object.keys(('headers' in entry && entry.headers) || {}).filter((name) => SECRET_HEADER.test(name));
  return names.map((name) => ({
    path: ['agents', id, 'headers', name],
    message: `agents.${id}.headers.${name}: a key never stands in this file; name its variable in "apiKeyEnv"`,
  }));
}
