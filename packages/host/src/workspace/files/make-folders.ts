/** `resourceMkdir`, and the folders that something is put into: each is made in the one above, which is held. */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { alreadyThere, codeOf } from './errors.js';
import { type PinnedFolder, pinFolder } from './pinned-folder.js';
import type { Places } from './places.js';

export function makeFolder(places: Places, clientId: string, uri: string): Promise<void> {
  return places.at({ uri, clientId, wanted: 'write' }, async ({ stats, held, names, isDeadLink }) => {
    if (stats?.isDirectory()) return;
    if (stats || isDeadLink) throw alreadyThere(uri, 'is there already, and not a folder');
    await (await makeFolders(held, names)).close();
  });
}

/** Makes what is missing, one below the other, and holds the innermost. What it was given stays open. */
export async function makeFolders(above: PinnedFolder, names: readonly string[]): Promise<PinnedFolder> {
  let folder = above;
  for (const name of names) {
    const outer = folder;
    folder = await makeOne(outer, name).finally(() => outer !== above && outer.close());
  }
  return folder;
}

async function makeOne(folder: PinnedFolder, name: string): Promise<PinnedFolder> {
  await folder.check();
  await mkdir(folder.at(name)).catch(ifThere);
  return pinFolder(path.join(folder.real, name));
}

/** Somebody else was faster. Whether it is a folder shows when it is held. */
function ifThere(error: unknown): void {
  if (codeOf(error) !== 'EEXIST') throw error;
}
