/** Watches a file, a folder, or a whole tree, and tells in batches what was added, updated and deleted. */
import path from 'node:path';
import type { ResourceChangeType } from '@atrium/protocol';
import type { Clock } from '../../../core/util/clock.js';
import { MovedError } from '../errors.js';
import { WATCH_BATCH_MAX_CHANGES, WATCH_BATCH_MS } from '../limits.js';
import { pinFolder } from '../pinned-folder.js';
import { isTemporary } from '../temporary.js';
import type { ChangeFilter } from './filter.js';
import { type Known, lookAt } from './known.js';
import { WatchedFolders } from './watched-folders.js';

export interface PathChange {
  readonly path: string;
  readonly type: ResourceChangeType;
}

export interface TreeWatchParts {
  readonly clock: Clock;
  /** The real path. */
  readonly root: string;
  readonly isFolder: boolean;
  readonly recursive: boolean;
  readonly filter: ChangeFilter;
  /** Never called with nothing. */
  changed(changes: readonly PathChange[]): void;
  /** It cannot be watched as it should be (any more). */
  failed(error: unknown): void;
}

/** A name that may be anything. */
const ANY = '';

export class TreeWatch {
  readonly #parts: TreeWatchParts;
  readonly #folders: WatchedFolders;
  /** What was touched since the last batch, by folder. */
  #touched = new Map<string, Set<string>>();
  #changes = new Map<string, ResourceChangeType>();
  #cancel: (() => void) | undefined;
  /** Whether the root is there. */
  #root: Known | undefined;
  #isClosed = false;

  constructor(parts: TreeWatchParts) {
    this.#parts = parts;
    this.#folders = new WatchedFolders({
      recursive: parts.recursive,
      isEntered: (folder) => parts.filter.isEntered(this.#relative(folder)),
      touched: (folder, name) => this.#touch(folder, name),
    });
  }

  /** Resolves when everything is watched. */
  async start(): Promise<void> {
    const { root, isFolder } = this.#parts;
    const folder = path.dirname(root);
    try {
      if (folder !== root) this.#folders.watchName(folder, path.basename(root));
    } catch (error) {
      // Its own folder may be closed to us. Then only its going is not seen.
      if (!isFolder) throw error;
    }
    if (isFolder) await this.#folders.add(root);
    this.#root = await this.#look(root);
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel?.();
    this.#folders.close();
  }

  #touch(folder: string, name = ANY): void {
    if (this.#isClosed || isTemporary(name)) return;
    const names = this.#touched.get(folder) ?? new Set();
    // So many are told as one change anyway, and looking through the folder once is less work than looking at each.
    const isAny = name === ANY || names.has(ANY) || names.size >= WATCH_BATCH_MAX_CHANGES;
    this.#touched.set(folder, isAny ? new Set([ANY]) : names.add(name));
    this.#cancel ??= this.#parts.clock.after(WATCH_BATCH_MS, () => void this.#tell());
  }

  /** One batch after the other: what is touched meanwhile is in the next. */
  async #tell(): Promise<void> {
    const touched = this.#touched;
    this.#touched = new Map();
    try {
      for (const [folder, names] of touched) await this.#compare(folder, names);
    } catch (error) {
      if (!this.#isClosed) this.#parts.failed(error);
    }
    this.#cancel = undefined;
    if (this.#isClosed) return;
    const changes = [...this.#changes].map(([file, type]) => ({ path: file, type }));
    this.#changes = new Map();
    const isTooMuch = changes.length > WATCH_BATCH_MAX_CHANGES;
    if (isTooMuch) this.#parts.changed([{ path: this.#parts.root, type: 'updated' }]);
    else if (changes.length > 0) this.#parts.changed(changes);
    if (this.#touched.size > 0) this.#cancel = this.#parts.clock.after(WATCH_BATCH_MS, () => void this.#tell());
  }

  async #compare(real: string, names: ReadonlySet<string>): Promise<void> {
    const { root } = this.#parts;
    if (real === path.dirname(root) && names.has(path.basename(root))) return this.#compareRoot();
    const folder = this.#folders.get(real);
    if (!folder) return;
    const held = await pinFolder(real).catch(ifMoved);
    // It is gone, or a link has taken its place. The folder that it was in tells.
    if (!held) return real === root ? this.#compareRoot() : undefined;
    try {
      const found = names.has(ANY) ? await this.#folders.look(held) : undefined;
      for (const name of found ? new Set([...folder.known.keys(), ...found.keys()]) : names) {
        const now = found ? found.get(name) : await lookAt(held, name);
        const before = folder.known.get(name);
        this.#folders.put(folder, name, now);
        await this.#step(path.join(real, name), before, now);
      }
    } finally {
      await held.close();
    }
  }

  async #compareRoot(): Promise<void> {
    const now = await this.#look(this.#parts.root);
    await this.#step(this.#parts.root, this.#root, now);
    this.#root = now;
  }

  async #look(file: string): Promise<Known | undefined> {
    const held = await pinFolder(path.dirname(file)).catch(ifMoved);
    if (!held) return undefined;
    return lookAt(held, path.basename(file)).finally(() => held.close());
  }

  /** From what was known to what is there now. */
  async #step(file: string, before: Known | undefined, now: Known | undefined): Promise<void> {
    const isSame = before && now && before.ino === now.ino && before.isFolder === now.isFolder;
    if (isSame) return this.#note(file, 'updated');
    if (before?.isFolder) for (const inner of this.#folders.remove(file)) this.#note(inner, 'deleted');
    if (before) this.#note(file, now ? 'updated' : 'deleted');
    else if (now) this.#note(file, 'added');
    if (!now?.isFolder || !this.#isEntered(file)) return;
    for (const inner of await this.#folders.add(file)) this.#note(inner, 'added');
  }

  #isEntered(folder: string): boolean {
    const { root, recursive, isFolder, filter } = this.#parts;
    return folder === root ? isFolder : recursive && filter.isEntered(this.#relative(folder));
  }

  /** Of several changes within one batch, what they come to. */
  #note(file: string, type: ResourceChangeType): void {
    const { root, filter } = this.#parts;
    if (file !== root && !filter.isTold(this.#relative(file))) return;
    const earlier = this.#changes.get(file);
    if (earlier === 'added' && type === 'deleted') this.#changes.delete(file);
    else if (earlier === 'deleted' && type === 'added') this.#changes.set(file, 'updated');
    else if (earlier !== 'added') this.#changes.set(file, type);
  }

  #relative(file: string): string {
    return path.relative(this.#parts.root, file).split(path.sep).join('/');
  }
}

function ifMoved(error: unknown): undefined {
  if (!(error instanceof MovedError)) throw error;
}
