/**
 * The folders of one watch: what is known to be in each, and how the system tells that something changed there. On Linux
 * every folder has a watcher of its own; elsewhere the outermost one tells about all of them.
 */
import { type FSWatcher, watch } from 'node:fs';
import path from 'node:path';
import { codeOf, invalid, MovedError, refused } from '../errors.js';
import { WATCH_FOLDERS_MAX, WATCH_NAMES_MAX, WATCHED_FOLDERS_MAX } from '../limits.js';
import { type PinnedFolder, pinFolder } from '../pinned-folder.js';
import { type Known, knownIn } from './known.js';

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

/** Folders of all watches in this process, for the system counts them together, too. */
let watchedFolders = 0;

export class WatchedFolders {
  readonly #parts: WatchedFoldersParts;
  readonly #folders = new Map<string, WatchedFolder>();
  readonly #others: FSWatcher[] = [];
  #names = 0;
  #isClosed = false;

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
    const held = await pinFolder(real).catch(ifMoved);
    if (!held) return undefined;
    try {
      // First the watcher, then the look inside: what comes in between is seen at least once.
      const folder = this.#enter(held, isOutermost || !HAS_RECURSIVE_WATCHERS);
      for (const [name, known] of await this.look(held)) this.put(folder, name, known);
      return folder;
    } finally {
      await held.close();
    }
  }

  #enter(held: PinnedFolder, isWatched: boolean): WatchedFolder {
    // One that was closed meanwhile takes nothing in any more: nobody would let go of it.
    if (this.#isClosed) throw new MovedError('the watch was closed');
    const { real } = held;
    this.remove(real);
    if (this.#folders.size >= WATCH_FOLDERS_MAX) {
      throw invalid(`a watch may have ${WATCH_FOLDERS_MAX} folders: exclude some`);
    }
    if (watchedFolders >= WATCHED_FOLDERS_MAX) throw tooMany();
    const folder = { real, known: new Map(), watcher: isWatched ? this.#watcherOf(held) : undefined };
    this.#folders.set(real, folder);
    watchedFolders += 1;
    return folder;
  }

  /** What is in a folder now; fails when that is more than can be remembered. */
  look(held: PinnedFolder): Promise<Map<string, Known>> {
    return knownIn(held, WATCH_NAMES_MAX);
  }

  /** Remembers what has this name in a folder; undefined forgets it. */
  put({ known }: WatchedFolder, name: string, found: Known | undefined): void {
    const before = known.size;
    if (found) known.set(name, found);
    else known.delete(name);
    this.#names += known.size - before;
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
      throw codeOf(error) === 'ENOSPC' || codeOf(error) === 'EMFILE' ? tooMany() : error;
    }
  }

  /** Lets go of a folder and all in it. Says what was known there. */
  remove(real: string): string[] {
    const folder = this.#folders.get(real);
    if (!folder) return [];
    this.#folders.delete(real);
    watchedFolders -= 1;
    this.#names -= folder.known.size;
    folder.watcher?.close();
    return [...folder.known.keys()].flatMap((name) => {
      const inner = path.join(real, name);
      return [inner, ...this.remove(inner)];
    });
  }

  close(): void {
    this.#isClosed = true;
    for (const { watcher } of this.#folders.values()) watcher?.close();
    for (const watcher of this.#others) watcher.close();
    watchedFolders -= this.#folders.size;
    this.#folders.clear();
  }
}

function tooMany(): Error {
  return refused('no more folders can be watched on this machine: exclude some, or end other watches');
}

/** It went before it could be watched. */
function ifMoved(error: unknown): undefined {
  if (!(error instanceof MovedError)) throw error;
}
