/** Plugins in folders of this machine: installed ones, and those that a configuration names. */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { isInside } from '../../../core/util/paths.js';
import { PLUGINS_MAX } from '../limits.js';
import { byCodeUnits, filesBelow, type PluginFiles } from '../parse/files.js';
import { localFiles } from '../parse/local-files.js';
import { pluginNameFrom } from '../parse/plugin-name.js';
import { hostId, type PluginSource, type Scope } from './source.js';

/** Every folder in a folder of plugins is one. */
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

/** A link in a project must not lead out of it; the user's own may lead where the user likes. */
export function filesOf(folder: string, scope: Scope, base: string): PluginFiles {
  if (scope !== 'project' || !isInside(base, folder)) return localFiles(folder);
  return filesBelow(localFiles(base), path.relative(base, folder).split(path.sep).join('/'));
}
