/** Folders that a person may mean who has typed the beginning of a path. Only below those that clients may look into. */
import { readdir, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { isInside } from '../util/paths.js';

export const FOLDERS_MAX = 50;

interface FolderChoice {
  readonly value: string;
  readonly label: string;
  readonly description: string;
}

/** `/srv/at` finds `/srv/atrium`; a `~` stands for the home folder. Hidden folders are left out: keys are kept there. */
export async function foldersLike(query: string, browsed: readonly string[]): Promise<FolderChoice[]> {
  const typed = query.replace(/^~(?=\/|$)/, homedir());
  if (!path.isAbsolute(typed)) return [];
  const above = browsed.filter((folder) => folder.startsWith(typed) && folder !== typed);
  const parent = typed.endsWith('/') ? typed : path.dirname(typed);
  const beginning = typed.endsWith('/') ? '' : path.basename(typed).toLowerCase();
  const names = (await isBrowsed(parent, browsed)) ? await foldersIn(parent) : [];
  const inside = names
    .filter((name) => name.toLowerCase().startsWith(beginning))
    .map((name) => path.join(parent, name));
  return [...new Set([...above, ...inside])]
    .slice(0, FOLDERS_MAX)
    .map((folder) => ({ value: folder, label: path.basename(folder) || folder, description: folder }));
}

async function foldersIn(parent: string): Promise<string[]> {
  const entries = await readdir(parent, { withFileTypes: true }).catch(() => []);
  const folders = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'));
  return folders.map(({ name }) => name).sort();
}

/** Where the path really leads is what counts. */
async function isBrowsed(folder: string, browsed: readonly string[]): Promise<boolean> {
  const real = await realpath(folder).catch(() => undefined);
  if (real === undefined) return false;
  for (const root of browsed) {
    const realRoot = await realpath(root).catch(() => undefined);
    if (realRoot === undefined || !isInside(realRoot, real)) continue;
    if (
      !path
        .relative(realRoot, real)
        .split(path.sep)
        .some((name) => name.startsWith('.'))
    )
      return true;
  }
  return false;
}
