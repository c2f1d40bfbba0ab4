/** Folders that a person may mean who has typed the beginning of a path. */
import { readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';

export const FOLDERS_MAX = 50;

/** `/srv/at` finds `/srv/atrium`; a `~` stands for the home folder. Hidden folders are found by typing their dot. */
export async function foldersLike(query: string): Promise<{ value: string; label: string; description: string }[]> {
  const typed = query.replace(/^~(?=\/|$)/, homedir());
  if (!path.isAbsolute(typed)) return [];
  const parent = typed.endsWith('/') ? typed : path.dirname(typed);
  const beginning = typed.endsWith('/') ? '' : path.basename(typed).toLowerCase();
  const entries = await readdir(parent, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory() && entry.name.toLowerCase().startsWith(beginning))
    .filter(({ name }) => beginning.startsWith('.') || !name.startsWith('.'))
    .map(({ name }) => name)
    .sort()
    .slice(0, FOLDERS_MAX)
    .map((name) => ({ value: path.join(parent, name), label: name, description: path.join(parent, name) }));
}
