/** `atrium serve --detach`: the same host, in the background. */

import type { Command } from 'commander';
import { dataFolderFrom } from '../data-place.js';
import { UsageError } from '../exit.js';
import { io } from '../io.js';
import { startHost } from './start-host.js';

/** What the background host is told differently, or not at all. */
const OWN_OPTIONS = new Set(['detach', 'dataDir', 'quiet']);

export async function detach(command: Command): Promise<void> {
  const options = command.opts<{ dataDir?: string; stdio?: boolean; quiet?: boolean }>();
  if (options.stdio) throw new UsageError('--detach and --stdio cannot be used together');
  const dataDir = dataFolderFrom(options.dataDir, io().env);
  const { instance, isNew } = await startHost(dataDir, optionsOf(command));
  if (options.quiet) io().stdout.write(`READY:${instance.port}\n`);
  else
    io().stdout.write(
      `${isNew ? 'Atrium is running' : 'Atrium was running already'}: ${instance.url} (process ${instance.pid})\n`,
    );
}

/** The options of the command line, for another process. What stands in the environment it inherits. */
function optionsOf(command: Command): string[] {
  return command.options.flatMap((option) => {
    const name = option.attributeName();
    if (OWN_OPTIONS.has(name) || command.getOptionValueSource(name) !== 'cli') return [];
    const value: unknown = command.getOptionValue(name);
    if (typeof value === 'boolean') return value === option.negate ? [] : [option.long ?? ''];
    const values = Array.isArray(value) ? value : [value];
    return values.flatMap((each) => [option.long ?? '', String(each)]);
  });
}
