/**
 * The folders of one watch: what is known to be in each, and how the system tells that something changed there. On Linux
 * every folder has a watcher of its own; elsewhere the outermost one tells about all of them.
 */
import { type FSWatcher, watch } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import { codeOf, invalid, MovedError, refused } from '../errors.js';
import { WATCH_FOLDERS_MAX, WATCH_NAMES_MAX } from '../limits.js';
import { type PinnedFolder, pinFolder } from '../pinned-folder.js';
import { isTemporary } from '../temporary.js';

/** Something in a folder. When a name stands for another folder than before, its number differs; files have none. */
export interface Known {
  readonly isFolder: boolean;
  readonly ino?: bigint;
}

export interface WatchedFolder {
  readonly real: string;
  readonly known: Map<string, Known>;
  readonly watcher: FSWatcher | undefined;
}

export interface WatchedFoldersParts {
  readonly recursive: boolean;
  /** Whether a watch looks into a folder. */
  isEntered(folder: string): boolean;
  /** Something happened to this name in a folder; without a name, to any. */
  touched(folder: string, name: string | undefined): void;
}

const HAS_RECURSIVE_WATCHERS = process.platform !== 'linux';

export class WatchedFolders {
  readonly #parts: WatchedFoldersParts;
  readonly #folders = new Map<string, WatchedFolder>();
  readonly #others: FSWatcher[] = [];
  #names = 0;

  constructor(parts: WatchedFoldersParts) {
    this.#parts = parts;
  }

  get(real: string): WatchedFolder | undefined {
    return this.#folders.get(real);
  }

  /** Watches a folder for the sake of one name in it, such as a file, or a folder that may go and come back. */
  watchName(folder: string, name: string): void {
    const listen = (_: string, changed: string | null) =>
      (changed === name || changed === null) && this.#parts.touched(folder, name);
    const watcher = watch(folder, { persistent: false }, listen);
    watcher.on('error', () => watcher.close());
    this.#others.push(watcher);
  }

  /** Takes in a folder and, where it is to be so, all folders in it. Says what was found, the outer before the inner. */
  async add(outermost: string): Promise<string[]> {
    const found: string[] = [];
    const waiting = [outermost];
    for (let real = waiting.shift(); real !== undefined; real = waiting.shift()) {
      const folder = await this.#addOne(real, real === outermost);
      for (const [name, { isFolder }] of folder?.known ?? []) {
        const inner = path.join(real, name);
        found.push(inner);
        if (isFolder && this.#parts.recursive && this.#parts.isEntered(inner)) waiting.push(inner);
      }
    }
    return found;
  }

  async #addOne(real: string, isOutermost: boolean): Promise<WatchedFolder | undefined> {
    if (this.#folders.size >= WATCH_FOLDERS_MAX) {
      throw invalid(`a watch may have ${WATCH_FOLDERS_MAX} folders: exclude some`);
    }
    const held = await pinFolder(real).catch(ifMoved);
    if (!held) return undefined;
    try {
      // First the watcher, then the look inside: what comes in between is seen at least once.
      const isWatched = isOutermost || !HAS_RECURSIVE_WATCHERS;
      const watcher = isWatched ? this.#watcherOf(held) : undefined;
      const folder = { real, known: await knownIn(held), watcher };
      this.#folders.set(real, folder);
      this.count(folder.known.size);
      return folder;
    } finally {
      await held.close();
    }
  }

  /** Names that came or went. */
  count(difference: number): void {
    this.#names += difference;
    if (this.#names > WATCH_NAMES_MAX) throw invalid(`a watch may have ${WATCH_NAMES_MAX} files: exclude some`);
  }

  #watcherOf({ self, real }: PinnedFolder): FSWatcher {
    const recursive = HAS_RECURSIVE_WATCHERS && this.#parts.recursive;
    const listen = (_: string, changed: string | null) => {
      if (changed === null) return this.#parts.touched(real, undefined);
      const inner = path.join(real, changed);
      this.#parts.touched(path.dirname(inner), path.basename(inner));
    };
    try {
      const watcher = watch(self, { persistent: false, recursive }, listen);
      // What was watched is gone; the folder that it was in tells.
      watcher.on('error', () => watcher.close());
      return watcher;
    } catch (error) {
      if (codeOf(error) === 'ENOSPC' || codeOf(error) === 'EMFILE') {
        throw refused('the system can watch no more folders: exclude some, or end other watches');
      }
      throw error;
    }
  }

  /** Lets go of a folder and all in it. Says what was known there. */
  remove(real: string): string[] {
    const folder = this.#folders.get(real);
    if (!folder) return [];
    this.#folders.delete(real);
    folder.watcher?.close();
    this.count(-folder.known.size);
    return [...folder.known.keys()].flatMap((name) => {
      const inner = path.join(real, name);
      return [inner, ...this.remove(inner)];
    });
  }

  close(): void {
    for (const { watcher } of this.#folders.values()) watcher?.close();
    for (const watcher of this.#others) watcher.close();
    this.#folders.clear();
  }
}

async function knownIn(held: PinnedFolder): Promise<Map<string, Known>> {
  const entries = await readdir(held.self, { withFileTypes: true });
  const known = new Map<string, Known>();
  for (const entry of entries.filter(({ name }) => !isTemporary(name))) {
    const found = entry.isDirectory() ? await lookAt(held, entry.name) : { isFolder: false };
    if (found) known.set(entry.name, found);
  }
  return known;
}

export async function lookAt(held: PinnedFolder, name: string): Promise<Known | undefined> {
  const stats = await lstat(held.at(name), { bigint: true }).catch(() => undefined);
  if (!stats) return undefined;
  return stats.isDirectory() ? { isFolder: true, ino: stats.ino } : { isFolder: false };
}

/** It went before it could be watched. */
function ifMoved(error: unknown): undefined {
  if (!(error instanceof MovedError)) throw error;
}
