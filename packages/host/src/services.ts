/** The services of a host, made and put together. The order is that in which they are asked. */
import path from 'node:path';
import { Changesets } from './changesets/changesets.js';
import { Completions } from './completions/completions.js';
import type { HostCore } from './core.js';
import type { HostOptions } from './host-options.js';
import type { ContentReader } from './resources/content.js';
import { Sweeping } from './resources/kept/sweeping.js';
import { browsedFolders, Resources } from './resources/resources.js';
import type { Service } from './service.js';
import { withoutTerminals } from './terminals/off.js';
import { Terminals } from './terminals/terminals.js';
import { NO_TRUST } from './trust/trust.js';

export function createServices(core: HostCore, options: HostOptions): readonly Service[] {
  const terminals = terminalsOf(core, options);
  const changes = changesets(core, options);
  const readers = [...(core.contents ? [core.contents] : []), ...changes.map(({ contents }) => contents)];
  const sweeping = core.contents ? [new Sweeping({ core, log: options.log, contents: core.contents })] : [];
  return [new Completions(core), terminals, ...changes, resources(core, options, readers), ...sweeping];
}

function resources(core: HostCore, options: HostOptions, readers: readonly ContentReader[]): Resources {
  const { defaultDirectory, browsedFolders: more, customizations } = options;
  const browsed = browsedFolders(defaultDirectory, more);
  return new Resources({ core, browsed, userFolder: customizations?.userFolder, readers });
}

function terminalsOf(core: HostCore, { terminals = {}, dataFolder }: HostOptions): Service {
  if (terminals === false) return withoutTerminals(core);
  const scriptsFolder = dataFolder === undefined ? undefined : path.join(dataFolder, 'shells');
  return new Terminals(core, { scriptsFolder, ...terminals });
}

/** Without a place to keep contents, nobody can say what changed. */
function changesets(core: HostCore, { dataFolder, trust = NO_TRUST }: HostOptions): readonly Changesets[] {
  return dataFolder === undefined ? [] : [new Changesets({ core, folder: path.join(dataFolder, 'changes'), trust })];
}
