/** Watches one folder through the system. Every watch of the host goes through here; see decision 0029. */
import { watch } from 'node:fs';

export interface FolderWatcher {
  close(): void;
}

/**
 * Calls back with the name of an entry that changed, relative to the folder; undefined when the system does not name it.
 * A watcher keeps no process alive, and ends quietly with its folder. Throws when the system can watch no more.
 */
export function watchFolder(
  folder: string,
  changed: (name: string | undefined) => void,
  { recursive = false }: { readonly recursive?: boolean } = {},
): FolderWatcher {
  const watcher = watch(folder, { persistent: false, recursive }, (_event, name) => changed(name ?? undefined));
  watcher.on('error', () => watcher.close());
  return watcher;
}
