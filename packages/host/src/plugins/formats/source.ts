/** Where customizations come from: each plugin, watched directory and configured MCP server before it is read. */
import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { isInside } from '@atrium/core/util/paths.js';
import type { ChildCustomizationType, CustomizationEnablement, Icon, TextRange } from '@atrium/protocol/ahp-1';
import { PLUGINS_MAX } from './limits.js';
import { pluginNameFrom } from './manifest.js';
import type { McpServerConfig } from './mcp-declarations.js';
import { byCodeUnits, filesBelow, localFiles, type PluginFiles } from './plugin-files.js';

/** The origin of a source, which decides whether it may start programs. */
export type Scope = 'project' | 'user' | 'agent' | 'client';

/** Called for each read. */
type OpenFiles = () => PluginFiles | Promise<PluginFiles>;

interface SourceBase {
  /** The id of its entry in the session. */
  readonly id: string;
  readonly uri: string;
  readonly name: string;
  readonly icons?: Icon[] | undefined;
  readonly scope: Scope;
  /** An agent declared it, but it is in the session's folder and needs the same trust as the folder. */
  readonly isOfFolder?: boolean;
}

export interface PluginSource extends SourceBase {
  readonly kind: 'plugin';
  readonly files: OpenFiles;
  /** On this machine; absent for a plugin that only a client can read. */
  readonly folder?: string | undefined;
  readonly clientId?: string;
  /** Whether it, and each MCP server in it by name, is on when it first appears. */
  readonly enablement?: CustomizationEnablement[] | undefined;
  readonly childEnablement?: Readonly<Record<string, CustomizationEnablement[]>> | undefined;
}

export interface DirectorySource extends SourceBase {
  readonly kind: 'directory';
  readonly files: OpenFiles;
  readonly folder: string;
  readonly contents: ChildCustomizationType;
  /** Whether every Markdown file in it is a command. */
  readonly isOfCommands?: boolean;
  readonly writable: boolean;
  /** Clients may write only below this folder, even through links. */
  readonly base: string;
}

export interface ServerSource extends SourceBase {
  readonly kind: 'mcpServer';
  readonly range: TextRange;
  readonly config: McpServerConfig;
  readonly declared: McpServerConfig;
}

export type ContainerSource = PluginSource | DirectorySource;
export type AnySource = ContainerSource | ServerSource;

/** Prefix of the host's ids, by which it recognises entries from before the session was unloaded. */
export const HOST_ID_PREFIX = 'host:';

const HASH_CHARACTERS = 16;

/** The same source always gets the same id, so that a switched-off source stays off. */
export function hostId(kind: AnySource['kind'], uri: string, name = ''): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([uri, name]))
    .digest('hex');
  return `${HOST_ID_PREFIX}${kind}:${hash.slice(0, HASH_CHARACTERS)}`;
}

/**
 * Scopes in order of precedence. A trusted project takes precedence over the user; an untrusted one must not replace
 * what the user installed.
 */
export function precedence(isTrusted: boolean): readonly Scope[] {
  return isTrusted ? ['project', 'user', 'agent', 'client'] : ['user', 'agent', 'project', 'client'];
}

/** Of two plugins or configured servers with the same name, only one counts, even while it is switched off. */
export function effective(sources: readonly AnySource[], isTrusted: boolean): readonly AnySource[] {
  const taken = new Set<string>();
  const winners = new Set<AnySource>();
  for (const scope of precedence(isTrusted)) {
    for (const source of sources.filter((other) => other.scope === scope)) {
      const keys = keysOf(source);
      if (keys.some((key) => taken.has(key))) continue;
      for (const key of keys) taken.add(key);
      winners.add(source);
    }
  }
  return sources.filter((source) => winners.has(source));
}

/** The same folder may be reached in two ways, as when a session is in the user's own folder. */
function keysOf({ kind, scope, id, name }: AnySource): readonly string[] {
  return kind === 'directory' || scope === 'agent' ? [id] : [id, `${kind} ${name}`];
}

/** Every folder in a folder of plugins is a plugin. */
export async function installedPlugins(base: string, plugins: string, scope: Scope): Promise<PluginSource[]> {
  const folder = path.join(base, plugins);
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const names = entries
    .filter((entry) => !entry.name.startsWith('.') && (entry.isDirectory() || entry.isSymbolicLink()))
    .map(({ name }) => name)
    .sort(byCodeUnits)
    .slice(0, PLUGINS_MAX);
  return names.map((name) => pluginIn(path.join(folder, name), scope, base));
}

export function pluginIn(folder: string, scope: Scope, base: string): PluginSource {
  const uri = pathToFileURL(folder).href;
  return {
    ...{ kind: 'plugin', id: hostId('plugin', uri), uri, scope, folder },
    name: pluginNameFrom(path.basename(folder)),
    files: () => filesOf(folder, scope, base),
  };
}

/** A link in a project must not lead out of it. The user's links may lead anywhere. */
export function filesOf(folder: string, scope: Scope, base: string): PluginFiles {
  if (scope !== 'project' || !isInside(base, folder)) return localFiles(folder);
  return filesBelow(localFiles(base), path.relative(base, folder).split(path.sep).join('/'));
}
