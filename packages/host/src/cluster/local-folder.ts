/**
 * The files that a host of a cluster keeps in its own data folder: the lock, and the full text index, which each host
 * builds itself.
 */
import path from 'node:path';
import type { TextIndex } from '@atrium/core/log/text-index.js';
import { loadDriver } from '../log-sqlite/driver.js';
import { prepareFolder, takeLock } from '../log-sqlite/folder.js';
import { openTextIndex, removeTextIndex } from '../log-sqlite/text-index.js';

/** Not the index file of a single host, which may be in the same folder but covers another log. */
export const TEXT_INDEX_FILE = 'cluster-search.db';

/** Keeps other hosts out of the folder. Throws `LogLockedError` when another host uses it. */
export async function lockDataFolder(dataDir: string): Promise<() => void> {
  prepareFolder(dataDir);
  const lock = takeLock(dataDir, await loadDriver());
  return () => lock.releaseUnchanged();
}

/** Opens the index. It can be deleted at any time, and is then built again from the log. */
export function localTextIndex(dataDir: string): (options: { readonly anew: boolean }) => Promise<TextIndex> {
  return async ({ anew }) => {
    const file = path.join(dataDir, TEXT_INDEX_FILE);
    if (anew) removeTextIndex(file);
    return openTextIndex({ driver: await loadDriver(), path: file });
  };
}
