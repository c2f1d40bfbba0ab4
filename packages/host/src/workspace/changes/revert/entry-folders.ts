/** The folders that an entry is in: they are made with it, and go with the last one. Never by way of a link, elsewhere. */
import { mkdir, realpath, rmdir } from 'node:fs/promises';
import { type BytePath, foldersOf, onDisk } from '../../git/byte-path.js';
import { statsOf } from '../capture.js';
import { inHeldFolder } from './held-folder.js';
import { NotPutError } from './not-put-error.js';

/** No folder on the way may be a link: it would lead elsewhere than it did. */
export async function checkFolders(root: string, file: BytePath): Promise<void> {
  for (const folder of foldersOf(file)) {
    const place = onDisk(root, folder);
    const real = await realpath(place, { encoding: 'buffer' }).catch(() => undefined);
    if (!real) continue;
    if (!real.equals(place)) throw new NotPutError('a folder that it is in has become a link');
    return;
  }
}

export async function makeFolders(root: string, file: BytePath): Promise<void> {
  const missing: BytePath[] = [];
  for (const folder of foldersOf(file)) {
    if (await statsOf(root, folder)) break;
    missing.unshift(folder);
  }
  for (const folder of missing)
    await inFolderOf(root, folder, (here, name) => mkdir(onDisk(here, name)).catch(ifThere));
}

/** As Git does: folders go with the last file in them. */
export async function removeEmptyFolders(root: string, file: BytePath): Promise<void> {
  for (const folder of foldersOf(file)) {
    const gone = await inFolderOf(root, folder, (here, name) => rmdir(onDisk(here, name))).catch(() => undefined);
    if (!gone) return;
  }
}

/** Works in the folder that something is in, by its name there. Undefined when that is not where it was. */
export function inFolderOf<T>(root: string, entry: BytePath, work: (folder: string, name: BytePath) => Promise<T>) {
  const [folder] = foldersOf(entry);
  const name = entry.slice(entry.lastIndexOf('/') + 1);
  return inHeldFolder(folder === undefined ? Buffer.from(root) : onDisk(root, folder), (here) => work(here, name));
}

/** Somebody else made it meanwhile. */
function ifThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
