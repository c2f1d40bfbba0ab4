/** What a configuration file adds to sessions: folders of plugins, and MCP servers that stand for themselves. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { readConfigFile } from '../../../config/config-file.js';
import type { Logger } from '../../../core/util/logger.js';
import { isInside } from '../../../core/util/paths.js';
import { PLUGINS_MAX } from '../limits.js';
import { findPlugins } from '../parse/find-plugins.js';
import { readMcpConfig } from '../parse/mcp-servers.js';
import type { Surroundings } from '../parse/placeholders.js';
import { Warnings } from '../parse/warnings.js';
import { filesOf, pluginIn } from './plugin-folders.js';
import { type AnySource, hostId, type Scope } from './source.js';

export interface ConfigPlace {
  readonly file: string;
  readonly scope: Extract<Scope, 'user' | 'project'>;
  /** Whether it may name plugins outside of its own folder: a stranger's file must not have others read. */
  readonly mayLeaveFolder: boolean;
  readonly surroundings: Surroundings;
  readonly logger: Logger;
}

/** A file that cannot be used adds nothing; the host says so in its log. */
export async function configuredSources(place: ConfigPlace): Promise<AnySource[]> {
  const { file, scope, mayLeaveFolder, logger } = place;
  const base = path.dirname(file);
  try {
    const { config } = (await readConfigFile(file)) ?? {};
    if (!config) return [];
    const named = (config.plugins ?? []).filter((folder) => mayLeaveFolder || isInside(base, folder));
    const folders = await Promise.all(named.slice(0, PLUGINS_MAX).map((folder) => pluginFolders(folder, scope, base)));
    const plugins = folders.flat().slice(0, PLUGINS_MAX);
    return [
      ...plugins.map((folder) => pluginIn(folder, scope, base)),
      ...(config.mcpServers ? await serversIn(place) : []),
    ];
  } catch (error) {
    logger.log('warn', 'a configuration file adds nothing to sessions', { file, error: String(error) });
    return [];
  }
}

/** A folder that is named may be a plugin, or hold several. One without any is shown, so that people see the mistake. */
async function pluginFolders(folder: string, scope: Scope, base: string): Promise<readonly string[]> {
  const { plugins } = await findPlugins(filesOf(folder, scope, base));
  const found = plugins.flatMap(({ source }) => (source.kind === 'path' ? [path.join(folder, source.path)] : []));
  return found.length > 0 ? found : [folder];
}

/** Read once more as text, because clients are told where in the file each server is declared. */
async function serversIn({ file, scope, surroundings, logger }: ConfigPlace): Promise<AnySource[]> {
  const warnings = new Warnings();
  const rules = { surroundings, isStrict: false, path: path.basename(file), shape: 'wrapped' as const };
  const servers = readMcpConfig(await readFile(file, 'utf8'), rules, warnings);
  for (const { message } of warnings.list) logger.log('warn', message, { file });
  const uri = pathToFileURL(file).href;
  return servers.map(({ name, config, declared, range }) => ({
    ...{ kind: 'mcpServer', id: hostId('mcpServer', uri, name), uri, name, scope, range, config, declared },
  }));
}
