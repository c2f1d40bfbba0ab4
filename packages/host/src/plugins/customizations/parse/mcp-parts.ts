/** The MCP servers of a container, from all the files and the manifest that declare some. */
import type { TextRange } from '@atrium/protocol';
import { mcpVersion, pluginVersion } from './agent-plugins.js';
import { configFiles } from './component-files.js';
import { childId } from './ids.js';
import { type JsonFile, memberOf, parseJson, plainValue } from './json.js';
import type { Locations } from './locations.js';
import type { McpServerConfig } from './mcp-config.js';
import { declaredServers, type McpDeclaration, readMcpConfig, serversIn, warnConflict } from './mcp-servers.js';
import type { PartBase, Source } from './source.js';

export interface McpServerPart extends PartBase {
  readonly range: TextRange;
  readonly config: McpServerConfig;
  readonly declared: McpServerConfig;
}

/** Servers in the manifest replace those in files. */
export async function loadMcpServers(
  source: Source,
  { places, inline }: Locations,
  manifest: JsonFile | undefined,
): Promise<readonly McpServerPart[]> {
  if (inline && manifest) {
    const rules = { ...source, path: manifest.path };
    const own = declaredServers(manifest.json, serversIn(inline), rules, source.warnings);
    if (own.length > 0) return own.map((declared) => partOf(source, manifest.path, declared));
  }
  return mcpServersInFiles(source, await configFiles(source, places, '.mcp.json'));
}

/** The first server of a name counts, across all files. */
export async function mcpServersInFiles(source: Source, paths: readonly string[]): Promise<readonly McpServerPart[]> {
  const found = new Map<string, McpServerPart>();
  for (const path of paths) {
    const text = await source.reader.read(path);
    if (text === undefined) continue;
    for (const declared of readMcpConfig(text, { ...source, path, shape: 'either' }, source.warnings)) {
      if (found.has(declared.name)) warnConflict(source.warnings, declared.name, path);
      else found.set(declared.name, partOf(source, path, declared));
    }
  }
  return [...found.values()];
}

/** Agent Plugins: the file must be written for the same version as the manifest, or no server is used. */
export async function loadStrictMcpServers(
  source: Source,
  path: string,
  manifest: JsonFile,
): Promise<readonly McpServerPart[]> {
  const text = await source.reader.read(path);
  if (text === undefined) return [];
  const json = parseJson(text, 'strict');
  const wanted = pluginVersion(plainValue(memberOf(manifest.json.root, '$schema')));
  if ('root' in json && mcpVersion(plainValue(memberOf(json.root, '$schema'))) !== wanted) {
    const message = `${path} is not written for the same version as ${manifest.path}, so its servers are not used.`;
    source.warnings.add('mcp-entry-invalid', message, path);
    return [];
  }
  const declared = readMcpConfig(text, { ...source, path, shape: 'wrapped' }, source.warnings);
  return declared.map((server) => partOf(source, path, server));
}

function partOf(source: Source, path: string, { name, config, declared, range }: McpDeclaration): McpServerPart {
  const uri = source.reader.uri(path);
  return { id: childId(source.containerId, uri, `mcp=${name}`), uri, range, name, config, declared };
}
