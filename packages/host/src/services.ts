/** The services of a host, made and put together. The order is that in which they are asked. */
import path from 'node:path';
import { blobReader } from './blobs/named-blobs.js';
import { BlobSweeper } from './blobs/sweep.js';
import type { BlobStore } from './core/contracts/blobs.js';
import type { HostCore } from './core/contracts/host-core.js';
import type { Log } from './core/log/log.js';
import type { Service } from './core/sessions/service.js';
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
  const readers = [...(core.blobs ? [blobReader(core.blobs)] : []), ...changes.map(({ contents }) => contents)];
  const sweepers = core.blobs ? [blobSweeper(core, options.log, core.blobs)] : [];
  return [new Completions(core), terminals, ...changes, resources(core, options, readers), ...sweepers];
}

function blobSweeper(core: HostCore, log: Log, blobs: BlobStore): BlobSweeper {
  const { clock, logger } = core;
  return new BlobSweeper({ clock, logger, log, blobs, storedSessions: () => core.sessions.stored() });
}

function resources(core: HostCore, options: HostOptions, readers: readonly ContentReader[]): Resources {
  const { defaultDirectory, browsedFolders: more, customizations } = options;
  const browsed = browsedFolders(defaultDirectory, more);
  return new Resources({ host: core, browsed, userFolder: customizations?.userFolder, readers });
}

function terminalsOf(core: HostCore, { terminals = {}, dataFolder }: HostOptions): Service {
  if (terminals === false) return withoutTerminals(core);
  const scriptsFolder = dataFolder === undefined ? undefined : path.join(dataFolder, 'shells');
  return new Terminals(core, { scriptsFolder, ...terminals });
}

/** Without a place for contents there is nothing to undo with. */
function changesets(host: HostCore, { log, dataFolder, trust = NO_TRUST }: HostOptions): readonly Changesets[] {
  return dataFolder === undefined
    ? []
    : [new Changesets({ host, log, folder: path.join(dataFolder, 'changes'), trust })];
}
