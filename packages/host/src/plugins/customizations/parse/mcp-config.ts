/** One declared MCP server: how it is started or reached. */
import { isRecord } from '../../../core/util/shape.js';
import { commandPath, startFolder } from './mcp-paths.js';
import { strictProblem } from './mcp-strict.js';
import { expand, fullLookup, reservedVariables, type Surroundings } from './placeholders.js';
import { present } from './present.js';
import { nullMap, textMap } from './text-map.js';
import type { WarningKind } from './warnings.js';

export type McpServerConfig = McpStdioConfig | McpRemoteConfig;

export interface McpStdioConfig {
  readonly transport: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  /** To be laid over the environment; null takes a variable away. */
  readonly env: Readonly<Record<string, string | null>>;
  /** Absent only for a server that no plugin declares. */
  readonly cwd?: string;
}

export interface McpRemoteConfig {
  readonly transport: 'http' | 'sse';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly oauth?: { readonly clientId: string };
}

/** `problem` completes the sentence that begins with the server's name, and shows nothing of the declaration. */
export interface McpProblem {
  readonly kind: Extract<WarningKind, 'mcp-entry-invalid' | 'mcp-transport-unsupported'>;
  readonly problem: string;
}

type Entry = Readonly<Record<string, unknown>>;

const TRANSPORTS: ReadonlyMap<unknown, McpServerConfig['transport']> = new Map([
  ['stdio', 'stdio'],
  ['local', 'stdio'],
  ['http', 'http'],
  ['streamable-http', 'http'],
  ['sse', 'sse'],
]);

export function mcpServerConfig(
  entry: unknown,
  surroundings: Surroundings,
  isStrict: boolean,
): McpServerConfig | McpProblem {
  if (!isRecord(entry)) return invalid('is not an object');
  const transport = TRANSPORTS.get(entry.type ?? (entry.command === undefined ? 'http' : 'stdio'));
  if (!transport) return { kind: 'mcp-transport-unsupported', problem: 'uses a transport that is not supported' };
  const problem = isStrict ? strictProblem(entry, transport) : undefined;
  if (problem !== undefined) return invalid(problem);
  return transport === 'stdio'
    ? stdioConfig(entry, surroundings, isStrict)
    : remoteConfig(entry, transport, surroundings, isStrict);
}

function invalid(problem: string): McpProblem {
  return { kind: 'mcp-entry-invalid', problem };
}

function stdioConfig(entry: Entry, surroundings: Surroundings, isStrict: boolean): McpStdioConfig | McpProblem {
  if (typeof entry.command !== 'string' || entry.command.trim() === '') return invalid('has no command');
  const lookup = fullLookup(surroundings, isStrict);
  const expanded = (text: string) => expand(text, lookup);
  const args = Array.isArray(entry.args) ? entry.args.filter((arg) => typeof arg === 'string') : [];
  const cwd = startFolder(entry.cwd, lookup, surroundings, isStrict);
  if (typeof cwd === 'object') return invalid(cwd.problem);
  return {
    transport: 'stdio',
    command: isStrict ? commandPath(entry.command, surroundings) : expanded(entry.command),
    args: args.map(expanded),
    env: { ...nullMap(entry.env), ...textMap(entry.env, expanded), ...reservedVariables(surroundings) },
    ...present({ cwd }),
  };
}

function remoteConfig(
  entry: Entry,
  transport: McpRemoteConfig['transport'],
  surroundings: Surroundings,
  isStrict: boolean,
): McpRemoteConfig | McpProblem {
  if (typeof entry.url !== 'string' || entry.url.trim() === '') return invalid('has neither a command nor a url');
  const lookup = isStrict ? () => undefined : fullLookup(surroundings, isStrict);
  const url = expand(entry.url.trim(), lookup);
  if (/^wss?:/i.test(url))
    return { kind: 'mcp-transport-unsupported', problem: 'uses web sockets, which are not supported' };
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return invalid('has a url that is no http address');
  return { transport, url, headers: textMap(entry.headers, (text) => expand(text, lookup)), ...oauthOf(entry.oauth) };
}

function oauthOf(oauth: unknown): Pick<McpRemoteConfig, 'oauth'> {
  return isRecord(oauth) && typeof oauth.clientId === 'string' ? { oauth: { clientId: oauth.clientId } } : {};
}

/** The whole environment of a server: the host's, then its own; what it may not set is in the latter already. */
export function serverEnvironment(
  base: Readonly<Record<string, string | undefined>>,
  { env }: McpStdioConfig,
): Record<string, string> {
  const merged = Object.entries({ ...base, ...env });
  return Object.fromEntries(merged.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}
