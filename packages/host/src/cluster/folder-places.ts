/**
 * Where the folders of sessions are: on a volume that hosts recognise by the id in it, or only on one machine. A host
 * that does not see the folder must not mistake a folder at the same path for it.
 */
import { hostname } from 'node:os';
import path from 'node:path';
import type { FolderPlaces } from '@atrium/core/contracts/folder-places.js';
import { readVolumeId } from './volumes.js';

export interface FolderPlacesOptions {
  readonly hostId: string;
  /** All hosts see everything below it. */
  readonly sharedDir?: string | undefined;
  /** The name of this machine, which may run several hosts. */
  readonly machine?: string;
}

export function folderPlaces({ hostId, sharedDir, machine = hostname() }: FolderPlacesOptions): FolderPlaces {
  const isShared = (folder: string) => sharedDir !== undefined && isBelow(sharedDir, folder);
  return {
    async placeOf(folder) {
      if (isShared(folder)) return undefined;
      const volume = await volumeOf(folder);
      return { folder, host: hostId, machine, ...(volume !== undefined && { volume }) };
    },
    async missing({ folder, host, machine: itsMachine, volume }) {
      if (volume !== undefined) {
        if ((await volumeOf(folder)) === volume) return undefined;
        return `the folder of this session, ${folder}, is on a shared folder (volume ${volume}) that host ${hostId} does not see. ${waitFor('a host that sees it', hostId)}`;
      }
      if (host === hostId || itsMachine === machine) return undefined;
      return `the folder of this session, ${folder}, is on the machine of host ${host} (${itsMachine}), and host ${hostId} does not see it. ${waitFor(`host ${host}`, hostId)}`;
    },
  };
}

function waitFor(which: string, hostId: string): string {
  return `It can be read here, and goes on when ${which} is active: drain ${hostId} when that one stands by.`;
}

/** The id of the nearest volume that contains a folder. */
async function volumeOf(folder: string): Promise<string | undefined> {
  for (let place = path.resolve(folder); ; place = path.dirname(place)) {
    const id = await readVolumeId(place);
    if (id !== undefined) return id;
    if (place === path.dirname(place)) return undefined;
  }
}

export function isBelow(parent: string, folder: string): boolean {
  const relative = path.relative(parent, folder);
  return relative === '' || (!relative.startsWith(`..${path.sep}`) && relative !== '..' && !path.isAbsolute(relative));
}
