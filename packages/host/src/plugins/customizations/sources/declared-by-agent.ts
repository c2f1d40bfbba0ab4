/** Containers that an agent itself declares for its sessions. */
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Customization } from '@atrium/protocol';
import { isInside } from '../../../core/util/paths.js';
import { localFiles } from '../parse/local-files.js';
import type { ContainerSource } from './source.js';

/** A relative URI counts from the session's folder. What is not a folder of this machine is the agent's own business. */
export function declaredByAgent(declared: readonly Customization[], folder: string | undefined): ContainerSource[] {
  return declared.flatMap((entry): ContainerSource[] => {
    const place = folderAt(entry.uri, folder);
    if (place === undefined) return [];
    const { id, name, icons } = entry;
    const isOfFolder = folder !== undefined && isInside(folder, place);
    const base = {
      id,
      name,
      icons,
      uri: pathToFileURL(place).href,
      scope: 'agent',
      isOfFolder,
      folder: place,
    } as const;
    const files = () => localFiles(place);
    if (entry.type === 'plugin') return [{ ...base, files, kind: 'plugin', isOn: entry.enabled }];
    if (entry.type !== 'directory') return [];
    const { contents, writable } = entry;
    return [{ ...base, files, kind: 'directory', contents, writable, base: folder ?? place }];
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
