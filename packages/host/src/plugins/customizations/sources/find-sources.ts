/** Everything that customizes a session on this machine, before any of it is read. */
import path from 'node:path';
import type { Customization } from '@atrium/protocol';
import { PROJECT_FILE } from '../../../config/places.js';
import type { Logger } from '../../../core/util/logger.js';
import type { CustomizationsOptions } from '../options.js';
import type { Surroundings } from '../parse/placeholders.js';
import { type ConfigPlace, configuredSources } from './configured.js';
import { declaredByAgent } from './declared-by-agent.js';
import { projectDirectories, userDirectories } from './directories.js';
import { installedPlugins } from './plugin-folders.js';
import { effective } from './precedence.js';
import type { AnySource } from './source.js';

export interface SourcePlaces extends Pick<CustomizationsOptions, 'userFolder' | 'userConfigFile'> {
  /** The session's folder. */
  readonly folder: string | undefined;
  readonly isTrusted: boolean;
  readonly declared: readonly Customization[];
  readonly surroundings: Surroundings;
  readonly logger: Logger;
}

/** What counts more comes first. */
export async function findSources(places: SourcePlaces): Promise<readonly AnySource[]> {
  const { folder, isTrusted } = places;
  const found = await Promise.all([projectSources(places), userSources(places)]);
  return effective([...found.flat(), ...declaredByAgent(places.declared, folder)], isTrusted);
}

/** Where something may appear or change that is no container by itself. */
export function placesToWatch({ folder, userFolder, userConfigFile }: SourcePlaces): string[] {
  return [
    ...(folder === undefined ? [] : [folder, path.join(folder, PROJECT_PLUGINS)]),
    ...(userFolder === undefined ? [] : [path.join(userFolder, USER_PLUGINS)]),
    ...(userConfigFile === undefined ? [] : [path.dirname(userConfigFile)]),
  ];
}

const PROJECT_PLUGINS = path.join('.agents', 'plugins');
const USER_PLUGINS = 'plugins';

async function projectSources(places: SourcePlaces): Promise<AnySource[]> {
  const { folder, isTrusted } = places;
  if (folder === undefined) return [];
  const file = path.join(folder, PROJECT_FILE);
  const found = await Promise.all([
    installedPlugins(folder, PROJECT_PLUGINS, 'project'),
    configuredSources({ ...configPlace(places), file, scope: 'project', mayLeaveFolder: isTrusted }),
    projectDirectories(folder),
  ]);
  return found.flat();
}

async function userSources(places: SourcePlaces): Promise<AnySource[]> {
  const { userFolder, userConfigFile: file } = places;
  const found = await Promise.all([
    userFolder === undefined ? [] : installedPlugins(userFolder, USER_PLUGINS, 'user'),
    file === undefined ? [] : configuredSources({ ...configPlace(places), file, scope: 'user', mayLeaveFolder: true }),
    userFolder === undefined ? [] : userDirectories(userFolder),
  ]);
  return found.flat();
}

function configPlace({ surroundings, logger }: SourcePlaces): Pick<ConfigPlace, 'surroundings' | 'logger'> {
  return { surroundings, logger };
}
