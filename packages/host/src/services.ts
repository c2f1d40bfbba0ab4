/** The services of a host, made and put together. The order is that in which they are asked. */
import path from 'node:path';
import { Sweeping } from './blobs/sweeping.js';
import type { HostCore } from './core/contracts/host-core.js';
import type { Service } from './core/contracts/service.js';
import type { HostOptions } from './host-options.js';
import { NO_TRUST } from './plugins/trust/trust.js';
import { Changesets } from './workspace/changes/changesets.js';
import { Completions } from './workspace/completions/completions.js';
import type { ContentReader } from './workspace/files/read.js';
import { browsedFolders, Resources } from './workspace/files/resources.js';
import { Terminals, withoutTerminals } from './workspace/terminals/terminals.js';

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
