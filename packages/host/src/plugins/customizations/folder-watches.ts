/** Detects changes in the folders of containers, including folders that do not exist yet. */
import { access, readdir } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '@atrium/core/util/clock.js';
import { type FolderWatcher, watchFolder } from '@atrium/core/util/folders.js';
import { WATCH_DEBOUNCE_MS, WATCHED_FOLDERS_MAX } from '../formats/limits.js';

interface Watched {
  readonly watchers: FolderWatcher[];
  disarm?: (() => void) | undefined;
}

export class FolderWatches {
  readonly #clock: Clock;
  readonly #watched = new Map<string, Watched>();
  #isClosed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls back a moment after something changed in one of the folders. Replaces the previous watch with this key. */
  async watch(key: string, folders: readonly string[], changed: () => void): Promise<void> {
    const present = await Promise.all(folders.slice(0, WATCHED_FOLDERS_MAX).map(nearest));
    this.unwatch(key);
    if (this.#isClosed) return;
    const watched: Watched = { watchers: [] };
    this.#watched.set(key, watched);
    const notice = () => {
      watched.disarm ??= this.#clock.after(WATCH_DEBOUNCE_MS, () => {
        watched.disarm = undefined;
        changed();
      });
    };
    for (const folder of new Set(present)) watched.watchers.push(...watcherOf(folder, notice));
  }

  unwatch(key: string): void {
    const watched = this.#watched.get(key);
    this.#watched.delete(key);
    watched?.disarm?.();
    for (const watcher of watched?.watchers ?? []) watcher.close();
  }

  close(): void {
    this.#isClosed = true;
    for (const key of [...this.#watched.keys()]) this.unwatch(key);
  }
}

/** When the system can watch no more, the folder goes unwatched; the next session reads it again. */
function watcherOf(folder: string, notice: () => void): FolderWatcher[] {
  try {
    return [watchFolder(folder, notice)];
  } catch {
    return [];
  }
}

/** The folder itself, or the nearest folder above it that exists. */
async function nearest(folder: string): Promise<string> {
  for (let current = folder; ; current = path.dirname(current)) {
    const isThere = await access(current).then(
      () => true,
      () => false,
    );
    if (isThere || current === path.dirname(current)) return current;
  }
}

const DEPTH_MAX = 2;
/** Large folders without components. */
const SKIPPED = new Set(['node_modules', '.git']);

/** A folder and the folders in it, as deep as components can be. */
export async function foldersBelow(root: string): Promise<string[]> {
  const found = [{ folder: root, depth: 0 }];
  for (const { folder, depth } of found) {
    if (depth === DEPTH_MAX) continue;
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if (!entry.isDirectory() || SKIPPED.has(entry.name)) continue;
      if (found.length >= WATCHED_FOLDERS_MAX) return found.map((known) => known.folder);
      found.push({ folder: path.join(folder, entry.name), depth: depth + 1 });
    }
  }
  return found.map((known) => known.folder);
}
