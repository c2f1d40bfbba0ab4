/** Declared MCP servers: a map from names to declarations, in a file of its own or inside another one. */
import type { TextRange } from '@atrium/protocol';
import { isRecord } from '../../../core/util/shape.js';
import { type JsonDocument, type JsonNode, memberOf, membersOf, parseJson, plainValue } from './json.js';
import { KEY_MAX_CHARACTERS } from './limits.js';
import { type McpProblem, type McpServerConfig, mcpServerConfig } from './mcp-config.js';
import { type Surroundings, withoutMachine } from './placeholders.js';
import { textMap } from './text-map.js';
import type { Warnings } from './warnings.js';

export interface McpDeclaration {
  readonly name: string;
  readonly config: McpServerConfig;
  /** The same before anything of this machine is put in: what a person judges. */
  readonly declared: McpServerConfig;
  /** Where in its file it is declared. */
  readonly range: TextRange;
}

export interface McpRules {
  readonly surroundings: Surroundings;
  readonly isStrict: boolean;
  /** For warnings. */
  readonly path: string;
}

/**
 * The servers of a configuration file. Files made for nothing else may leave out the outer `mcpServers`; in a file
 * that holds other things as well (`wrapped`) it is needed.
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

/** The map of servers, whether it is wrapped or not. */
export function serversIn(node: JsonNode): JsonNode {
  const wrapped = memberOf(node, 'mcpServers');
  return wrapped?.type === 'object' ? wrapped : node;
}

/** The first server of a name counts. */
export function declaredServers(
  json: JsonDocument,
  servers: JsonNode,
  { surroundings, isStrict, path }: McpRules,
  warnings: Warnings,
): readonly McpDeclaration[] {
  if (servers.type !== 'object') warnings.add('mcp-entry-invalid', `${path} has no map of MCP servers.`, path);
  const found = new Map<string, McpDeclaration>();
  for (const { key: name, value, whole } of membersOf(servers)) {
    if (name === '$schema') continue;
    const entry = plainValue(value);
    const config = isKey(name) ? mcpServerConfig(entry, surroundings, isStrict) : BAD_NAME;
    if ('problem' in config)
      warnings.add(config.kind, `${path}: the MCP server "${short(name)}" ${config.problem}.`, path);
    else if (found.has(name)) warnConflict(warnings, name, path);
    else {
      const declared = declaredConfig(entry, config, mcpServerConfig(entry, withoutMachine(surroundings), isStrict));
      found.set(name, { name, config, declared, range: json.rangeOf(whole) });
    }
  }
  return [...found.values()];
}

/** An address that is a variable is none before its value is put in; it is shown as it is written all the same. */
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

export function warnConflict(warnings: Warnings, name: string, path: string): void {
  warnings.add('mcp-name-conflict', `${path}: there is already an MCP server "${name}"; the first one counts.`, path);
}
