/** MCP servers that a container or a configuration file declares: how to start or reach each one. */
import path from 'node:path';
import { isLoopback } from '@atrium/core/util/addresses.js';
import { isRecord } from '@atrium/core/util/shape.js';
import type { TextRange } from '@atrium/protocol/ahp-1';
import { type JsonDocument, type JsonFile, type JsonNode, memberOf, membersOf, parseJson, plainValue } from './json.js';
import { KEY_MAX_CHARACTERS } from './limits.js';
import { childId, configFiles, type LoadContext, type PartBase, present } from './load-context.js';
import { type ComponentLocations, innerPath } from './manifest.js';
import {
  type ExpansionContext,
  expand,
  fullLookup,
  type Lookup,
  nullMap,
  reservedVariables,
  textMap,
  withoutMachine,
} from './placeholders.js';
import { mcpVersion, pluginVersion } from './plugin-formats.js';
import type { WarningKind, Warnings } from './warnings.js';

export interface McpServerPart extends PartBase {
  readonly range: TextRange;
  readonly config: McpServerConfig;
  readonly declared: McpServerConfig;
}

/** Servers in the manifest replace those in files. */
export async function loadMcpServers(
  context: LoadContext,
  { locations, inline }: ComponentLocations,
  manifest: JsonFile | undefined,
): Promise<readonly McpServerPart[]> {
  if (inline && manifest) {
    const rules = { ...context, path: manifest.path };
    const own = declaredServers(manifest.json, serversIn(inline), rules, context.warnings);
    if (own.length > 0) return own.map((declared) => partOf(context, manifest.path, declared));
  }
  return mcpServersInFiles(context, await configFiles(context, locations, '.mcp.json'));
}

/** The first server of a name counts, across all files. */
export async function mcpServersInFiles(
  context: LoadContext,
  paths: readonly string[],
): Promise<readonly McpServerPart[]> {
  const found = new Map<string, McpServerPart>();
  for (const path of paths) {
    const text = await context.reader.read(path);
    if (text === undefined) continue;
    for (const declared of readMcpConfig(text, { ...context, path, shape: 'either' }, context.warnings)) {
      if (found.has(declared.name)) warnConflict(context.warnings, declared.name, path);
      else found.set(declared.name, partOf(context, path, declared));
    }
  }
  return [...found.values()];
}

/** Agent Plugins: the file must have the same version as the manifest, or no server is used. */
export async function loadStrictMcpServers(
  context: LoadContext,
  path: string,
  manifest: JsonFile,
): Promise<readonly McpServerPart[]> {
  const text = await context.reader.read(path);
  if (text === undefined) return [];
  const json = parseJson(text, 'strict');
  const wanted = pluginVersion(plainValue(memberOf(manifest.json.root, '$schema')));
  if ('root' in json && mcpVersion(plainValue(memberOf(json.root, '$schema'))) !== wanted) {
    const message = `${path} is not written for the same version as ${manifest.path}, so its servers are not used.`;
    context.warnings.add('mcp-entry-invalid', message, path);
    return [];
  }
  const declared = readMcpConfig(text, { ...context, path, shape: 'wrapped' }, context.warnings);
  return declared.map((server) => partOf(context, path, server));
}

function partOf(context: LoadContext, path: string, { name, config, declared, range }: McpDeclaration): McpServerPart {
  const uri = context.reader.uri(path);
  return { id: childId(context.containerId, uri, `mcp=${name}`), uri, range, name, config, declared };
}

export interface McpDeclaration {
  readonly name: string;
  readonly config: McpServerConfig;
  /** The declaration as it is written, without values of this machine, for people to judge. */
  readonly declared: McpServerConfig;
  /** The position of its declaration in the file. */
  readonly range: TextRange;
}

interface McpRules {
  readonly expansion: ExpansionContext;
  readonly isStrict: boolean;
  /** For warnings. */
  readonly path: string;
}

/**
 * The servers of a configuration file. A file that holds nothing else may omit the outer `mcpServers`; a file with
 * other content (`wrapped`) needs it.
 */
export function readMcpConfig(
  text: string,
  rules: McpRules & { readonly shape: 'wrapped' | 'either' },
  warnings: Warnings,
): readonly McpDeclaration[] {
  const json = parseJson(text, rules.isStrict ? 'strict' : 'tolerant');
  if ('problem' in json) {
    warnings.add('mcp-entry-invalid', `${rules.path} ${json.problem}.`, rules.path);
    return [];
  }
  const servers = rules.shape === 'wrapped' ? memberOf(json.root, 'mcpServers') : serversIn(json.root);
  return servers ? declaredServers(json, servers, rules, warnings) : [];
}

/** The map of servers, with or without the outer member. */
export function serversIn(node: JsonNode): JsonNode {
  const wrapped = memberOf(node, 'mcpServers');
  return wrapped?.type === 'object' ? wrapped : node;
}

/** The first server of a name counts. */
export function declaredServers(
  json: JsonDocument,
  servers: JsonNode,
  { expansion, isStrict, path }: McpRules,
  warnings: Warnings,
): readonly McpDeclaration[] {
  if (servers.type !== 'object') warnings.add('mcp-entry-invalid', `${path} has no map of MCP servers.`, path);
  const found = new Map<string, McpDeclaration>();
  for (const { key: name, value, whole } of membersOf(servers)) {
    if (name === '$schema') continue;
    const entry = plainValue(value);
    const config = isKey(name) ? mcpServerConfig(entry, expansion, isStrict) : BAD_NAME;
    if ('problem' in config)
      warnings.add(config.kind, `${path}: the MCP server "${short(name)}" ${config.problem}.`, path);
    else if (found.has(name)) warnConflict(warnings, name, path);
    else {
      const declared = declaredConfig(entry, config, mcpServerConfig(entry, withoutMachine(expansion), isStrict));
      found.set(name, { name, config, declared, range: json.rangeOf(whole) });
    }
  }
  return [...found.values()];
}

/** An address that is a variable is invalid without its value; people see it as it is written. */
function declaredConfig(entry: unknown, config: McpServerConfig, asWritten: McpServerConfig | McpProblem) {
  if (!('problem' in asWritten)) return asWritten;
  if (config.transport === 'stdio' || !isRecord(entry)) return config;
  return { ...config, url: String(entry.url), headers: textMap(entry.headers, (text) => text) };
}

const BAD_NAME = {
  kind: 'mcp-entry-invalid',
  problem: 'has a name that is empty, too long or not on one line',
} as const;

function isKey(name: string): boolean {
  return name.trim() !== '' && name.length <= KEY_MAX_CHARACTERS && !/\p{Cc}/u.test(name);
}

function short(name: string): string {
  return name.slice(0, KEY_MAX_CHARACTERS);
}

function warnConflict(warnings: Warnings, name: string, path: string): void {
  warnings.add('mcp-name-conflict', `${path}: there is already an MCP server "${name}"; the first one counts.`, path);
}

export type McpServerConfig = McpStdioConfig | McpRemoteConfig;

export interface McpStdioConfig {
  readonly transport: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  /** Overrides of the environment; null removes a variable. */
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

/** `problem` completes a sentence that begins with the server's name, and reveals nothing of the declaration. */
interface McpProblem {
  readonly kind: Extract<WarningKind, 'mcp-entry-invalid' | 'mcp-transport-unsupported'>;
  readonly problem: string;
}

const TRANSPORTS: ReadonlyMap<unknown, McpServerConfig['transport']> = new Map([
  ['stdio', 'stdio'],
  ['local', 'stdio'],
  ['http', 'http'],
  ['streamable-http', 'http'],
  ['sse', 'sse'],
]);

function mcpServerConfig(entry: unknown, expansion: ExpansionContext, isStrict: boolean): McpServerConfig | McpProblem {
  if (!isRecord(entry)) return invalid('is not an object');
  const transport = TRANSPORTS.get(entry.type ?? (entry.command === undefined ? 'http' : 'stdio'));
  if (!transport) return { kind: 'mcp-transport-unsupported', problem: 'uses a transport that is not supported' };
  const problem = isStrict ? strictProblem(entry, transport) : undefined;
  if (problem !== undefined) return invalid(problem);
  return transport === 'stdio'
    ? stdioConfig(entry, expansion, isStrict)
    : remoteConfig(entry, transport, expansion, isStrict);
}

function invalid(problem: string): McpProblem {
  return { kind: 'mcp-entry-invalid', problem };
}

function stdioConfig(entry: Entry, expansion: ExpansionContext, isStrict: boolean): McpStdioConfig | McpProblem {
  if (typeof entry.command !== 'string' || entry.command.trim() === '') return invalid('has no command');
  const lookup = fullLookup(expansion, isStrict);
  const expanded = (text: string) => expand(text, lookup);
  const args = Array.isArray(entry.args) ? entry.args.filter((arg) => typeof arg === 'string') : [];
  const cwd = startFolder(entry.cwd, lookup, expansion, isStrict);
  if (typeof cwd === 'object') return invalid(cwd.problem);
  return {
    transport: 'stdio',
    command: isStrict ? commandPath(entry.command, expansion) : expanded(entry.command),
    args: args.map(expanded),
    env: { ...nullMap(entry.env), ...textMap(entry.env, expanded), ...reservedVariables(expansion) },
    ...present({ cwd }),
  };
}

function remoteConfig(
  entry: Entry,
  transport: McpRemoteConfig['transport'],
  expansion: ExpansionContext,
  isStrict: boolean,
): McpRemoteConfig | McpProblem {
  if (typeof entry.url !== 'string' || entry.url.trim() === '') return invalid('has neither a command nor a url');
  const lookup = isStrict ? () => undefined : fullLookup(expansion, isStrict);
  const url = expand(entry.url.trim(), lookup);
  if (/^wss?:/i.test(url))
    return { kind: 'mcp-transport-unsupported', problem: 'uses web sockets, which are not supported' };
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return invalid('has a url that is not an http address');
  return { transport, url, headers: textMap(entry.headers, (text) => expand(text, lookup)), ...oauthOf(entry.oauth) };
}

function oauthOf(oauth: unknown): Pick<McpRemoteConfig, 'oauth'> {
  return isRecord(oauth) && typeof oauth.clientId === 'string' ? { oauth: { clientId: oauth.clientId } } : {};
}

/** The host's environment, plus the server's own variables, plus those that only the host may set. */
export function serverEnvironment(
  base: Readonly<Record<string, string | undefined>>,
  { env }: McpStdioConfig,
): Record<string, string> {
  const merged = Object.entries({ ...base, ...env });
  return Object.fromEntries(merged.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

/** A server starts in the plugin's folder by default; a relative folder is relative to that. */
function startFolder(
  cwd: unknown,
  lookup: Lookup,
  expansion: ExpansionContext,
  isStrict: boolean,
): string | undefined | { readonly problem: string } {
  const { pluginRoot } = expansion;
  if (typeof cwd !== 'string' || cwd.trim() === '') return pluginRoot;
  if (isStrict && !isContained(cwd)) return { problem: 'has a cwd that leads out of the plugin' };
  const expanded = expand(cwd.trim(), lookup);
  return pluginRoot === undefined ? expanded : path.resolve(pluginRoot, expanded);
}

/** In the strict dialect, a folder must be below the plugin or the plugin's data folder. */
function isContained(cwd: string): boolean {
  const inner = /^(?:\.|\$\{PLUGIN_ROOT\}|\$\{PLUGIN_DATA\})(?:\/(.*))?$/s.exec(cwd);
  return inner !== null && innerPath(`./${inner[1] ?? ''}`) !== undefined;
}

/** In the strict dialect, a command with a path is a file of the plugin. */
function commandPath(command: string, { pluginRoot }: ExpansionContext): string {
  return command.startsWith('./') && pluginRoot !== undefined ? path.resolve(pluginRoot, command) : command;
}

type Entry = Readonly<Record<string, unknown>>;

const STDIO_FIELDS: ReadonlySet<string> = new Set(['type', 'command', 'args', 'env', 'cwd']);
const REMOTE_FIELDS: ReadonlySet<string> = new Set(['type', 'url', 'headers', 'oauth']);
const RESERVED_VARIABLES = ['PLUGIN_ROOT', 'PLUGIN_DATA'];

/** Checks the stricter rules of Agent Plugins. The result completes a sentence that begins with the server's name. */
function strictProblem(entry: Entry, transport: 'stdio' | 'http' | 'sse'): string | undefined {
  const known = transport === 'stdio' ? STDIO_FIELDS : REMOTE_FIELDS;
  if (Object.keys(entry).some((key) => !known.has(key))) return 'has a field that this format does not know';
  return transport === 'stdio' ? stdioProblem(entry) : addressProblem(entry.url);
}

function stdioProblem({ command, env }: Entry): string | undefined {
  if (typeof command === 'string' && !isOneToken(command)) {
    return 'has a command that is neither one bare name nor a path that begins with "./"';
  }
  if (isRecord(env) && RESERVED_VARIABLES.some((name) => Object.hasOwn(env, name))) {
    return `sets a variable that only the host may set (${RESERVED_VARIABLES.join(', ')})`;
  }
  return undefined;
}

function isOneToken(command: string): boolean {
  if (command === '' || /\s/.test(command)) return false;
  return command.startsWith('./') ? innerPath(command) !== undefined : !/[/\\]/.test(command);
}

function addressProblem(text: unknown): string | undefined {
  if (typeof text !== 'string' || !URL.canParse(text)) return 'has a url that is not a full address';
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'has a url that is not an http address';
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) return 'must use https, for it is on another machine';
  if (url.username !== '' || url.password !== '' || text.includes('#')) {
    return 'has a url with a user name, a password or a fragment';
  }
  return undefined;
}
