/**
 * Watches a file, a folder, or a whole tree, and reports in batches what was added, updated and deleted. Folders are
 * held open while they are read, so that a folder that is replaced by a link reveals nothing from elsewhere.
 */
import { lstat, opendir } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '@atrium/core/util/clock.js';
import { type FolderWatcher, watchFolder } from '@atrium/core/util/folders.js';
import type { ResourceChangeType } from '@atrium/protocol/ahp-1';
import { codeOf, invalid, MovedError, refused } from './file-errors.js';
import { isTemporary, type PinnedFolder, pinFolder } from './pinned-folder.js';
import type { ChangeFilter } from './watches.js';

/** Folders in all watches of the host together: the system limits the watchers of all programs of a user. */
const WATCHED_FOLDERS_MAX = 32_768;
/** Folders in one watch, and names in them that it remembers. */
const WATCH_FOLDERS_MAX = 4_096;
export const WATCH_NAMES_MAX = 200_000;
/** Changes within this time are reported together. */
export const WATCH_BATCH_MS = 50;
/** More changes than this are reported as one: the root was updated. */
export const WATCH_BATCH_MAX_CHANGES = 500;
/** How many names are fetched from the system at once. */
const BUFFERED_NAMES = 1_024;
const FILE: Known = { isFolder: false };
const HAS_RECURSIVE_WATCHERS = process.platform !== 'linux';
/** Stands for any name of a folder. */
const ANY = '';

export interface PathChange {
  readonly path: string;
  readonly type: ResourceChangeType;
}

interface TreeWatchOptions {
  readonly clock: Clock;
  /** The real path. */
  readonly root: string;
  readonly isFolder: boolean;
  readonly recursive: boolean;
  readonly filter: ChangeFilter;
  readonly budget: FolderBudget;
  /** The limit of folders in this watch, if not the default. */
  readonly foldersMax?: number;
  /** Replaces the watchers of Node. */
  readonly watch?: typeof watchFolder;
  /** Never called with an empty list. */
  changed(changes: readonly PathChange[]): void;
  /** The watch cannot work properly, or no longer can. */
  failed(error: unknown): void;
}

export class TreeWatch {
  readonly #options: TreeWatchOptions;
  readonly #folders: WatchedFolders;
  /** Names touched since the last batch, by folder. */
  #touched = new Map<string, Set<string>>();
  #changes = new Map<string, ResourceChangeType>();
  #cancel: (() => void) | undefined;
  /** Undefined while the root does not exist. */
  #root: Known | undefined;
  #isClosed = false;

  constructor(options: TreeWatchOptions) {
    this.#options = options;
    this.#folders = new WatchedFolders({
      recursive: options.recursive,
      budget: options.budget,
      ...(options.foldersMax !== undefined && { foldersMax: options.foldersMax }),
      ...(options.watch && { watch: options.watch }),
      isEntered: (folder) => options.filter.isEntered(this.#relative(folder)),
      touched: (folder, name) => this.#touch(folder, name),
    });
  }

  /** Resolves when everything is watched. */
  async start(): Promise<void> {
    const { root, isFolder } = this.#options;
    const folder = path.dirname(root);
    try {
      if (folder !== root) this.#folders.watchName(folder, path.basename(root));
    } catch (error) {
      // The folder above may be unreadable. Then only the removal of the file goes unnoticed.
      if (!isFolder) throw error;
    }
    if (isFolder) await this.#folders.add(root);
    this.#root = await this.#stat(root);
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel?.();
    this.#folders.close();
  }

  #touch(folder: string, name = ANY): void {
    if (this.#isClosed || isTemporary(name)) return;
    const names = this.#touched.get(folder) ?? new Set();
    // So many changes are reported as one anyway, and reading the folder once is cheaper than checking each name.
    const isAny = name === ANY || names.has(ANY) || names.size >= WATCH_BATCH_MAX_CHANGES;
    this.#touched.set(folder, isAny ? new Set([ANY]) : names.add(name));
    this.#cancel ??= this.#options.clock.after(WATCH_BATCH_MS, () => void this.#tell());
  }

  /** Reports one batch after another; names touched meanwhile are in the next. */
  async #tell(): Promise<void> {
    const touched = this.#touched;
    this.#touched = new Map();
    try {
      for (const [folder, names] of touched) await this.#compare(folder, names);
    } catch (error) {
      if (!this.#isClosed) this.#options.failed(error);
    }
    this.#cancel = undefined;
    if (this.#isClosed) return;
    const changes = [...this.#changes].map(([file, type]) => ({ path: file, type }));
    this.#changes = new Map();
    const isTooMuch = changes.length > WATCH_BATCH_MAX_CHANGES;
    if (isTooMuch) this.#options.changed([{ path: this.#options.root, type: 'updated' }]);
    else if (changes.length > 0) this.#options.changed(changes);
    if (this.#touched.size > 0) this.#cancel = this.#options.clock.after(WATCH_BATCH_MS, () => void this.#tell());
  }

  async #compare(real: string, names: ReadonlySet<string>): Promise<void> {
    const { root } = this.#options;
    if (real === path.dirname(root) && names.has(path.basename(root))) return this.#compareRoot();
    const folder = this.#folders.get(real);
    if (!folder) return;
    const held = await pinFolder(real).catch(ifMoved);
    // The folder is gone, or replaced by a link. The watcher of the folder above reports that.
    if (!held) return real === root ? this.#compareRoot() : undefined;
    try {
      const found = names.has(ANY) ? await this.#folders.look(held) : undefined;
      for (const name of found ? new Set([...folder.known.keys(), ...found.keys()]) : names) {
        const now = found ? found.get(name) : await statEntry(held, name);
        const before = folder.known.get(name);
        this.#folders.put(folder, name, now);
        await this.#step(path.join(real, name), before, now);
      }
    } finally {
      await held.close();
    }
  }

  async #compareRoot(): Promise<void> {
    const now = await this.#stat(this.#options.root);
    await this.#step(this.#options.root, this.#root, now);
    this.#root = now;
  }

  async #stat(file: string): Promise<Known | undefined> {
    const held = await pinFolder(path.dirname(file)).catch(ifMoved);
    if (!held) return undefined;
    return statEntry(held, path.basename(file)).finally(() => held.close());
  }

  /** Records the changes from the known state to the present one. */
  async #step(file: string, before: Known | undefined, now: Known | undefined): Promise<void> {
    // Files have no inode here, so a file and a folder of the same name differ, too.
    if (before && now && before.ino === now.ino) return this.#note(file, 'updated');
    if (before?.isFolder) for (const inner of this.#folders.remove(file)) this.#note(inner, 'deleted');
    if (before) this.#note(file, now ? 'updated' : 'deleted');
    else if (now) this.#note(file, 'added');
    if (!now?.isFolder || !this.#isEntered(file)) return;
    for (const inner of await this.#folders.add(file)) this.#note(inner, 'added');
  }

  #isEntered(folder: string): boolean {
    const { root, recursive, isFolder, filter } = this.#options;
    return folder === root ? isFolder : recursive && filter.isEntered(this.#relative(folder));
  }

  /** Joins several changes of a path within one batch. */
  #note(file: string, type: ResourceChangeType): void {
    const { root, filter } = this.#options;
    if (file !== root && !filter.isReported(this.#relative(file))) return;
    const earlier = this.#changes.get(file);
    if (earlier === 'added' && type === 'deleted') this.#changes.delete(file);
    else if (earlier === 'deleted' && type === 'added') this.#changes.set(file, 'updated');
    else if (earlier !== 'added') this.#changes.set(file, type);
  }

  #relative(file: string): string {
    return path.relative(this.#options.root, file).split(path.sep).join('/');
  }
}

/** Counts the folders in all watches of a host. */
export class FolderBudget {
  #entryCount = 0;

  constructor(private readonly max = WATCHED_FOLDERS_MAX) {}

  get isSpent(): boolean {
    return this.#entryCount >= this.max;
  }

  take(): void {
    this.#entryCount += 1;
  }

  release(folders: number): void {
    this.#entryCount -= folders;
  }
}

/** A watched folder with the names known in it, and its watcher of the system. */
interface WatchedFolder {
  readonly real: string;
  readonly known: Map<string, Known>;
  readonly watcher: FolderWatcher | undefined;
}

interface WatchedFoldersOptions {
  readonly budget: FolderBudget;
  readonly foldersMax?: number;
  readonly watch?: typeof watchFolder;
  readonly recursive: boolean;
  /** Whether the watch includes this folder. */
  isEntered(folder: string): boolean;
  /** Something happened to this name in a folder; without a name, to any of them. */
  touched(folder: string, name: string | undefined): void;
}

/**
 * The folders of one watch. On Linux every folder has its own watcher of the system; elsewhere the watcher of the
 * outermost folder reports changes in all of them.
 */
export class WatchedFolders {
  readonly #options: WatchedFoldersOptions;
  readonly #watch: typeof watchFolder;
  readonly #folders = new Map<string, WatchedFolder>();
  readonly #others: FolderWatcher[] = [];
  #names = 0;
  #isClosed = false;

  constructor(options: WatchedFoldersOptions) {
    this.#options = options;
    this.#watch = options.watch ?? watchFolder;
  }

  get(real: string): WatchedFolder | undefined {
    return this.#folders.get(real);
  }

  /** Watches a folder because of one name in it, such as a file, or a folder that may disappear and come back. */
  watchName(folder: string, name: string): void {
    const watcher = this.#watch(folder, (changed) => {
      if (changed === name || changed === undefined) this.#options.touched(folder, name);
    });
    this.#others.push(watcher);
  }

  /** Adds a folder and, in a recursive watch, all folders in it. Returns the paths found, outer ones first. */
  async add(outermost: string): Promise<string[]> {
    const found: string[] = [];
    const waiting = [outermost];
    for (let real = waiting.shift(); real !== undefined; real = waiting.shift()) {
      const folder = await this.#addOne(real, real === outermost);
      for (const [name, { isFolder }] of folder?.known ?? []) {
        const inner = path.join(real, name);
        found.push(inner);
        if (isFolder && this.#options.recursive && this.#options.isEntered(inner)) waiting.push(inner);
      }
    }
    return found;
  }

  async #addOne(real: string, isOutermost: boolean): Promise<WatchedFolder | undefined> {
    const held = await pinFolder(real).catch(ifMoved);
    if (!held) return undefined;
    try {
      // The watcher starts before the names are read, so that a change in between is seen at least once.
      const folder = this.#enter(held, isOutermost || !HAS_RECURSIVE_WATCHERS);
      for (const [name, known] of await this.look(held)) this.put(folder, name, known);
      return folder;
    } finally {
      await held.close();
    }
  }

  #enter(held: PinnedFolder, isWatched: boolean): WatchedFolder {
    // A closed watch adds no folder, because nothing would close its watcher.
    if (this.#isClosed) throw new MovedError('the watch was closed');
    const { real } = held;
    this.remove(real);
    const { foldersMax = WATCH_FOLDERS_MAX } = this.#options;
    if (this.#folders.size >= foldersMax) throw invalid(`a watch may have at most ${foldersMax} folders: exclude some`);
    if (this.#options.budget.isSpent) throw tooMany();
    const folder = { real, known: new Map(), watcher: isWatched ? this.#watcherOf(held) : undefined };
    this.#folders.set(real, folder);
    this.#options.budget.take();
    return folder;
  }

  /** The present names in a folder; fails when there are too many to remember. */
  look(held: PinnedFolder): Promise<Map<string, Known>> {
    return knownIn(held, WATCH_NAMES_MAX);
  }

  /** Remembers the kind of a name in a folder; undefined forgets it. */
  put({ known }: WatchedFolder, name: string, found: Known | undefined): void {
    const before = known.size;
    if (found) known.set(name, found);
    else known.delete(name);
    this.#names += known.size - before;
    if (this.#names > WATCH_NAMES_MAX) throw invalid(`a watch may have at most ${WATCH_NAMES_MAX} files: exclude some`);
  }

  #watcherOf({ self, real }: PinnedFolder): FolderWatcher {
    const recursive = HAS_RECURSIVE_WATCHERS && this.#options.recursive;
    const listen = (changed: string | undefined) => {
      if (changed === undefined) return this.#options.touched(real, undefined);
      const inner = path.join(real, changed);
      this.#options.touched(path.dirname(inner), path.basename(inner));
    };
    try {
      return this.#watch(self, listen, { recursive });
    } catch (error) {
      throw codeOf(error) === 'ENOSPC' || codeOf(error) === 'EMFILE' ? tooMany() : error;
    }
  }

  /** Stops watching a folder and everything in it. Returns the paths that were known there. */
  remove(real: string): string[] {
    const folder = this.#folders.get(real);
    if (!folder) return [];
    this.#folders.delete(real);
    this.#options.budget.release(1);
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
    this.#options.budget.release(this.#folders.size);
    this.#folders.clear();
  }
}

/** An entry of a folder. If its name later belongs to another folder, the inode differs; files have none. */
interface Known {
  readonly isFolder: boolean;
  readonly ino?: bigint;
}

/** All entries of a folder; fails when there are more than `maxNames`. */
export async function knownIn(held: PinnedFolder, maxNames: number): Promise<Map<string, Known>> {
  const known = new Map<string, Known>();
  for await (const entry of await opendir(held.self, { bufferSize: BUFFERED_NAMES })) {
    if (isTemporary(entry.name)) continue;
    const found = entry.isDirectory() ? await statEntry(held, entry.name) : FILE;
    if (found) known.set(entry.name, found);
    if (known.size > maxNames) throw invalid(`a watch may have at most ${maxNames} files: exclude some`);
  }
  return known;
}

async function statEntry(held: PinnedFolder, name: string): Promise<Known | undefined> {
  const stats = await lstat(held.at(name), { bigint: true }).catch(() => undefined);
  if (!stats) return undefined;
  return stats.isDirectory() ? { isFolder: true, ino: stats.ino } : FILE;
}

function tooMany(): Error {
  return refused('no more folders can be watched on this machine: exclude some, or end other watches');
}

/** It disappeared before it could be watched. */
function ifMoved(error: unknown): undefined {
  if (!(error instanceof MovedError)) throw error;
}
