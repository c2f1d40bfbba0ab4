/** Where a declared MCP server is started, and where its program is. */
import path from 'node:path';
import { innerPath } from './locations.js';
import { expand, type Lookup, type Surroundings } from './placeholders.js';

/** Without one of its own, a server starts in the plugin's folder; a relative one is meant from there. */
export function startFolder(
  cwd: unknown,
  lookup: Lookup,
  surroundings: Surroundings,
  isStrict: boolean,
): string | undefined | { readonly problem: string } {
  const { pluginRoot } = surroundings;
  if (typeof cwd !== 'string' || cwd.trim() === '') return pluginRoot;
  if (isStrict && !isContained(cwd)) return { problem: 'has a cwd that leads out of the plugin' };
  const expanded = expand(cwd.trim(), lookup);
  return pluginRoot === undefined ? expanded : path.resolve(pluginRoot, expanded);
}

/** Strictly, only what is below the plugin or below the folder that the host keeps for it. */
function isContained(cwd: string): boolean {
  const inner = /^(?:\.|\$\{PLUGIN_ROOT\}|\$\{PLUGIN_DATA\})(?:\/(.*))?$/s.exec(cwd);
  return inner !== null && innerPath(`./${inner[1] ?? ''}`) !== undefined;
}

/** Strictly, a command with a path in it is a file of the plugin. */
export function commandPath(command: string, { pluginRoot }: Surroundings): string {
  return command.startsWith('./') && pluginRoot !== undefined ? path.resolve(pluginRoot, command) : command;
}
