/** What Agent Plugins demands of a declared MCP server, beyond what every dialect does. */

import { isRecord } from '../../../core/util/shape.js';
import { isLoopback } from '../../../server/security/loopback.js';

import { innerPath } from './locations.js';

type Entry = Readonly<Record<string, unknown>>;

const STDIO_FIELDS: ReadonlySet<string> = new Set(['type', 'command', 'args', 'env', 'cwd']);
const REMOTE_FIELDS: ReadonlySet<string> = new Set(['type', 'url', 'headers', 'oauth']);
const RESERVED_VARIABLES = ['PLUGIN_ROOT', 'PLUGIN_DATA'];

/** Completes the sentence that begins with the server's name; undefined when all is well. */
export function strictProblem(entry: Entry, transport: 'stdio' | 'http' | 'sse'): string | undefined {
  const known = transport === 'stdio' ? STDIO_FIELDS : REMOTE_FIELDS;
  if (Object.keys(entry).some((key) => !known.has(key))) return 'has a field that this format does not know';
  return transport === 'stdio' ? stdioProblem(entry) : addressProblem(entry.url);
}

function stdioProblem({ command, env }: Entry): string | undefined {
  if (typeof command === 'string' && !isOneToken(command)) {
    return 'has a command that is neither one bare name nor a path that begins with "./"';
  }
  if (isRecord(env) && RESERVED_VARIABLES.some((name) => Object.hasOwn(env, name))) {
    return `sets a variable that is the host's to set (${RESERVED_VARIABLES.join(', ')})`;
  }
  return undefined;
}

function isOneToken(command: string): boolean {
  if (command === '' || /\s/.test(command)) return false;
  return command.startsWith('./') ? innerPath(command) !== undefined : !/[/\\]/.test(command);
}

function addressProblem(text: unknown): string | undefined {
  if (typeof text !== 'string' || !URL.canParse(text)) return 'has a url that is no full address';
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'has a url that is no http address';
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) return 'must use https, for it is on another machine';
  if (url.username !== '' || url.password !== '' || text.includes('#')) {
    return 'has a url with a user name, a password or a fragment';
  }
  return undefined;
}
