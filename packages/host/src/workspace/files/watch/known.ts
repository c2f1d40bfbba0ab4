/** What a watch remembers of what is in a folder. */
import { lstat, opendir } from 'node:fs/promises';
import { invalid } from '../errors.js';
import type { PinnedFolder } from '../pinned-folder.js';
import { isTemporary } from '../temporary.js';

/** Something in a folder. When a name stands for another folder than before, its number differs; files have none. */
export interface Known {
  readonly isFolder: boolean;
  readonly ino?: bigint;
}

/** Names that are fetched from the system in one go. */
const BUFFERED_NAMES = 1_024;

const FILE: Known = { isFolder: false };

/** All that is in a folder; fails when that is more than so many names. */
export async function knownIn(held: PinnedFolder, maxNames: number): Promise<Map<string, Known>> {
  const known = new Map<string, Known>();
  for await (const entry of await opendir(held.self, { bufferSize: BUFFERED_NAMES })) {
    if (isTemporary(entry.name)) continue;
    const found = entry.isDirectory() ? await lookAt(held, entry.name) : FILE;
    if (found) known.set(entry.name, found);
    if (known.size > maxNames) throw invalid(`a watch may have ${maxNames} files: exclude some`);
  }
  return known;
}

export async function lookAt(held: PinnedFolder, name: string): Promise<Known | undefined> {
  const stats = await lstat(held.at(name), { bigint: true }).catch(() => undefined);
  if (!stats) return undefined;
  return stats.isDirectory() ? { isFolder: true, ino: stats.ino } : FILE;
}
