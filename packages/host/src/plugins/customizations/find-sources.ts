/** Finds everything on this machine that customizes a session, before any of it is read. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Logger } from '@atrium/core/util/logger.js';
import { isInside } from '@atrium/core/util/paths.js';
import type { Customization } from '@atrium/protocol/ahp-1';
import { PROJECT_FILE, readConfigFile } from '../../config/config-file.js';
import { projectDirectories, userDirectories } from '../formats/directories.js';
import { PLUGINS_MAX } from '../formats/limits.js';
import { findPlugins } from '../formats/marketplace.js';
import { readMcpConfig } from '../formats/mcp-declarations.js';
import type { ExpansionContext } from '../formats/placeholders.js';
import { localFiles } from '../formats/plugin-files.js';
import {
  type AnySource,
  type ContainerSource,
  effective,
  filesOf,
  hostId,
  installedPlugins,
  pluginIn,
  type Scope,
} from '../formats/source.js';
import { Warnings } from '../formats/warnings.js';
import type { CustomizationsOptions } from './ports.js';

export interface SourceOptions extends Pick<CustomizationsOptions, 'userFolder' | 'userConfigFile'> {
  /** The session's folder. */
  readonly folder: string | undefined;
  readonly isTrusted: boolean;
  readonly declared: readonly Customization[];
  readonly expansion: ExpansionContext;
  readonly logger: Logger;
}

/** The project's sources, then the user's, then the agent's. */
export async function findSources(options: SourceOptions): Promise<readonly AnySource[]> {
  const { folder, isTrusted } = options;
  const found = await Promise.all([projectSources(options), userSources(options)]);
  return effective([...found.flat(), ...declaredByAgent(options.declared, folder)], isTrusted);
}

/** Folders in which sources may appear, change or disappear. */
export function foldersToWatch({ folder, userFolder, userConfigFile }: SourceOptions): string[] {
  return [
    ...(folder === undefined ? [] : [folder, path.join(folder, PROJECT_PLUGINS)]),
    ...(userFolder === undefined ? [] : [path.join(userFolder, USER_PLUGINS)]),
    ...(userConfigFile === undefined ? [] : [path.dirname(userConfigFile)]),
  ];
}

const PROJECT_PLUGINS = path.join('.agents', 'plugins');
const USER_PLUGINS = 'plugins';

async function projectSources(options: SourceOptions): Promise<AnySource[]> {
  const { folder, isTrusted } = options;
  if (folder === undefined) return [];
  const file = path.join(folder, PROJECT_FILE);
  const found = await Promise.all([
    installedPlugins(folder, PROJECT_PLUGINS, 'project'),
    configuredSources({ ...shared(options), file, scope: 'project', canLeaveFolder: isTrusted }),
    projectDirectories(folder),
  ]);
  return found.flat();
}

async function userSources(options: SourceOptions): Promise<AnySource[]> {
  const { userFolder, userConfigFile: file } = options;
  const found = await Promise.all([
    userFolder === undefined ? [] : installedPlugins(userFolder, USER_PLUGINS, 'user'),
    file === undefined ? [] : configuredSources({ ...shared(options), file, scope: 'user', canLeaveFolder: true }),
    userFolder === undefined ? [] : userDirectories(userFolder),
  ]);
  return found.flat();
}

function shared({ expansion, logger }: SourceOptions): Pick<ConfigFileOptions, 'expansion' | 'logger'> {
  return { expansion, logger };
}

interface ConfigFileOptions {
  readonly file: string;
  readonly scope: Extract<Scope, 'user' | 'project'>;
  /**
   * Whether it may name plugins outside of its own folder. An untrusted file must not make the host read other folders.
   */
  readonly canLeaveFolder: boolean;
  readonly expansion: ExpansionContext;
  readonly logger: Logger;
}

/** An unusable file adds nothing, and the host logs why. */
async function configuredSources(options: ConfigFileOptions): Promise<AnySource[]> {
  const { file, scope, canLeaveFolder, logger } = options;
  const base = path.dirname(file);
  try {
    const { config } = (await readConfigFile(file)) ?? {};
    if (!config) return [];
    const named = (config.plugins ?? []).filter((folder) => canLeaveFolder || isInside(base, folder));
    const folders = await Promise.all(named.slice(0, PLUGINS_MAX).map((folder) => pluginFolders(folder, scope, base)));
    const plugins = folders.flat().slice(0, PLUGINS_MAX);
    return [
      ...plugins.map((folder) => pluginIn(folder, scope, base)),
      ...(config.mcpServers ? await serversIn(options) : []),
    ];
  } catch (error) {
    logger.log('warn', 'a configuration file adds nothing to sessions', { file, error: String(error) });
    return [];
  }
}

/** A named folder may be a plugin, or contain several. One without any stays listed, so that people see the mistake. */
async function pluginFolders(folder: string, scope: Scope, base: string): Promise<readonly string[]> {
  const { plugins } = await findPlugins(filesOf(folder, scope, base));
  const found = plugins.flatMap(({ source }) => (source.kind === 'path' ? [path.join(folder, source.path)] : []));
  return found.length > 0 ? found : [folder];
}

/** Reads the file again as text, because clients see where each server is declared in it. */
async function serversIn({ file, scope, expansion, logger }: ConfigFileOptions): Promise<AnySource[]> {
  const warnings = new Warnings();
  const rules = { expansion, isStrict: false, path: path.basename(file), shape: 'wrapped' as const };
  const servers = readMcpConfig(await readFile(file, 'utf8'), rules, warnings);
  for (const { message } of warnings.list) logger.log('warn', message, { file });
  const uri = pathToFileURL(file).href;
  return servers.map(({ name, config, declared, range }) => ({
    ...{ kind: 'mcpServer', id: hostId('mcpServer', uri, name), uri, name, scope, range, config, declared },
  }));
}

/**
 * A relative URI starts from the session's folder. Customizations outside of this machine's folders are left to the
 * agent.
 */
function declaredByAgent(declared: readonly Customization[], folder: string | undefined): ContainerSource[] {
  return declared.flatMap((entry): ContainerSource[] => {
    const options = folderAt(entry.uri, folder);
    if (options === undefined) return [];
    const { id, name, icons } = entry;
    const isOfFolder = folder !== undefined && isInside(folder, options);
    const base = {
      id,
      name,
      icons,
      uri: pathToFileURL(options).href,
      scope: 'agent',
      isOfFolder,
      folder: options,
    } as const;
    const files = () => localFiles(options);
    if (entry.type === 'plugin') return [{ ...base, files, kind: 'plugin', enablement: entry.enablement }];
    if (entry.type !== 'directory') return [];
    const { contents, writable } = entry;
    return [{ ...base, files, kind: 'directory', contents, writable, base: folder ?? options }];
  });
}

function folderAt(uri: string, folder: string | undefined): string | undefined {
  try {
    if (uri.startsWith('file:')) return fileURLToPath(uri);
  } catch {
    return undefined;
  }
  const isRelative = !/^[a-z][a-z0-9+.-]*:/i.test(uri) && !path.isAbsolute(uri);
  return isRelative && folder !== undefined ? path.resolve(folder, decodeURIComponent(uri)) : undefined;
}
