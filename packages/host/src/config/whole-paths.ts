/** Relative paths in a file count from the folder of that file, wherever the host was started. */
import path from 'node:path';
import type { AgentEntry, Config } from './schema.js';

export function wholePaths(config: Config, folder: string): Config {
  const { agents, providers, plugins } = config;
  return {
    ...config,
    ...(agents && { agents: mapValues(agents, (entry) => wholeAgent(entry, folder)) }),
    ...(providers && { providers: mapValues(providers, (entry) => wholeProcess(entry, folder)) }),
    ...(plugins && { plugins: plugins.map((plugin) => path.resolve(folder, plugin)) }),
  };
}

function wholeAgent(entry: AgentEntry, folder: string): AgentEntry {
  return 'command' in entry ? wholeProcess(entry, folder) : entry;
}

/** A bare name is looked for on PATH. */
function wholeProcess<Entry extends { readonly command: string; readonly cwd?: string }>(
  entry: Entry,
  folder: string,
): Entry {
  const { command, cwd } = entry;
  return {
    ...entry,
    ...(/[\\/]/.test(command) && { command: path.resolve(folder, command) }),
    ...(cwd !== undefined && { cwd: path.resolve(folder, cwd) }),
  };
}

function mapValues<Value>(record: Readonly<Record<string, Value>>, change: (value: Value) => Value) {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}
