/** What the Agent Plugins format demands: it names its version, and refuses what it does not know. */
import { isRecord } from '../../../core/util/shape.js';

const SCHEMAS = 'https://agent-plugins.org/schemas/';
const PLUGIN_SCHEMA = '/plugin.schema.json';
const MCP_SCHEMA = '/mcp.schema.json';

/** The versions of the format that this host knows. */
export const AGENT_PLUGINS_VERSIONS: ReadonlySet<string> = new Set(['1.0.0']);

export function isAgentPluginsSchema(schema: unknown): schema is string {
  return typeof schema === 'string' && schema.startsWith(SCHEMAS) && schema.endsWith(PLUGIN_SCHEMA);
}

/** The version that a manifest's schema names. */
export function pluginVersion(schema: unknown): string | undefined {
  return versionIn(schema, PLUGIN_SCHEMA);
}

/** The version that the schema of an MCP file names. */
export function mcpVersion(schema: unknown): string | undefined {
  return versionIn(schema, MCP_SCHEMA);
}

function versionIn(schema: unknown, end: string): string | undefined {
  if (typeof schema !== 'string' || !schema.startsWith(SCHEMAS) || !schema.endsWith(end)) return undefined;
  return schema.slice(SCHEMAS.length, -end.length);
}

const isString = (value: unknown) => typeof value === 'string';

const FIELDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  $schema: isString,
  name: isString,
  version: isString,
  description: isString,
  author: (value) => isString(value) || isRecord(value),
  homepage: isString,
  repository: isString,
  license: isString,
  logo: isString,
  keywords: (value) => Array.isArray(value) && value.every(isString),
  extensions: isRecord,
};

/** Known fields with a value of the wrong type: each of them is a reason to refuse the plugin. */
export function wrongFields(manifest: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(manifest).filter((key) => Object.hasOwn(FIELDS, key) && !FIELDS[key]?.(manifest[key]));
}

export function unknownFields(manifest: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(manifest).filter((key) => !Object.hasOwn(FIELDS, key));
}
