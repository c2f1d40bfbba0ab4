/** `resourceList`: the direct children of a folder. */
import type { Dir, Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import path from 'node:path';
import { type DirectoryEntry, ErrorCode, type ResourceListResult } from '@atrium/protocol';
import { RequestError } from '../../core/contracts/request-error.js';
import { invalid, notFound } from './errors.js';
import { LIST_LINKS_AT_ONCE, LIST_LINKS_MAX_MS, LIST_MAX_ENTRIES } from './limits.js';
import { pinFolder } from './pinned-folder.js';
import type { Place, Places } from './places.js';
import { suffices } from './roots.js';

/** Names that are fetched from the system in one go. */
const BUFFERED_NAMES = 1_024;

export function listFolder(places: Places, clientId: string, uri: string): Promise<ResourceListResult> {
  return places.at({ uri, clientId, wanted: 'list' }, async (place) => {
    const { real, stats, access } = place;
    if (!stats) throw notFound(uri);
    if (!stats.isDirectory()) throw invalid(`${uri} is not a folder`);
    const found = await namesIn(place);
    const shown = suffices(access, 'read') ? found : found.filter(({ name }) => !name.startsWith('.'));
    const links = await linkKinds(
      shown.filter((entry) => entry.isSymbolicLink()),
      (name) => places.isFolder(clientId, path.join(real, name)),
    );
    return { entries: shown.flatMap((entry) => entryOf(entry, links)) };
  });
}

async function namesIn({ real, uri }: Place): Promise<Dirent[]> {
  const folder = await pinFolder(real);
  try {
    const opened = await opendir(folder.self, { bufferSize: BUFFERED_NAMES });
    const found = await readUpTo(LIST_MAX_ENTRIES, opened).finally(() => opened.close());
    if (found) return found;
    throw new RequestError(ErrorCode.InvalidParams, `${uri} has more than ${LIST_MAX_ENTRIES} entries`);
  } finally {
    await folder.close();
  }
}

/** Undefined when there are more. With callbacks, because a promise for each entry takes twice the time. */
function readUpTo(max: number, folder: Dir): Promise<Dirent[] | undefined> {
  const found: Dirent[] = [];
  return new Promise((resolve, reject) => {
    const next = () =>
      folder.read((error, entry) => {
        if (error) reject(error);
        else if (!entry) resolve(found);
        else if (found.push(entry) > max) resolve(undefined);
        else next();
      });
    next();
  });
}

/**
 * Which links lead to folders. Where one leads out of what may be seen, not even that is told; nor is it when there are so
 * many, or such long ways, that the time is up.
 */
async function linkKinds(
  links: readonly Dirent[],
  isFolder: (name: string) => Promise<boolean>,
): Promise<ReadonlySet<string>> {
  const folders = new Set<string>();
  const limit = performance.now() + LIST_LINKS_MAX_MS;
  for (let at = 0; at < links.length && performance.now() < limit; at += LIST_LINKS_AT_ONCE) {
    const some = links.slice(at, at + LIST_LINKS_AT_ONCE);
    await Promise.all(some.map(async ({ name }) => (await isFolder(name)) && folders.add(name)));
  }
  return folders;
}

/** What is neither a file nor a folder nor a link to one is of no use to anybody here. */
function entryOf(entry: Dirent, folderLinks: ReadonlySet<string>): DirectoryEntry[] {
  const { name } = entry;
  if (entry.isDirectory() || folderLinks.has(name)) return [{ name, type: 'directory' }];
  return entry.isFile() || entry.isSymbolicLink() ? [{ name, type: 'file' }] : [];
}
