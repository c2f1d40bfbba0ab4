/**
 * The tree of unfolded folders, as the rows of a list. Reads a folder when it is first unfolded, and again when the
 * host says
 * that something in it has changed.
 */
import type { Client } from '@atrium/client';
import { Store } from '../model/store.js';
import { accessProblem, type Entry, entriesOf } from './entries.js';
import { type Watch, watch } from './watch.js';

/** How many open folders the page watches at once; the host allows somewhat more. */
const WATCHED_MAX = 24;
/** Git's own folder. */
const NOT_SHOWN = '.git';
/** The pause before reading again: builds and checkouts change many files in a row. */
const CALM_MS = 250;

export interface TreeRow extends Entry {
  readonly depth: number;
  readonly isOpen: boolean;
  /** A note instead of the folder's entries: still loading, empty, or the reason why they are missing. */
  readonly note?: string;
}

interface Folder {
  entries: readonly Entry[] | undefined;
  problem: string | undefined;
  isOpen: boolean;
  watch: Watch | undefined;
  timer: ReturnType<typeof setTimeout> | undefined;
}

export class FolderTree {
  readonly rows = new Store<readonly TreeRow[]>([]);
  readonly #folders = new Map<string, Folder>();
  #isPaused = true;

  constructor(
    readonly client: Client,
    readonly root: string,
  ) {
    this.#folders.set(root, newFolder(true));
    this.#draw();
  }

  /** Reads every unfolded folder again. */
  resume(): void {
    this.#isPaused = false;
    for (const [uri, { isOpen }] of this.#folders) if (isOpen) this.open(uri);
  }

  /** The tree has left the screen. It remembers which folders are unfolded. */
  pause(): void {
    this.#isPaused = true;
    for (const folder of this.#folders.values()) letGo(folder);
  }

  open(uri: string): void {
    const folder = this.#folders.get(uri) ?? newFolder(true);
    this.#folders.set(uri, folder);
    folder.isOpen = true;
    this.#draw();
    void this.#read(uri, folder);
    const watched = [...this.#folders.values()].filter((other) => other.watch).length;
    if (watched < WATCHED_MAX) folder.watch ??= watch(this.client, uri, () => this.#changed(uri, folder));
  }

  close(uri: string): void {
    const folder = this.#folders.get(uri);
    if (!folder) return;
    folder.isOpen = false;
    letGo(folder);
    this.#draw();
  }

  refresh(): void {
    for (const [uri, folder] of this.#folders) if (folder.isOpen) void this.#read(uri, folder);
  }

  #changed(uri: string, folder: Folder): void {
    if (this.#isPaused) return;
    folder.timer ??= setTimeout(() => {
      folder.timer = undefined;
      void this.#read(uri, folder);
    }, CALM_MS);
  }

  async #read(uri: string, folder: Folder): Promise<void> {
    try {
      folder.entries = (await entriesOf(this.client, uri)).filter(({ name }) => name !== NOT_SHOWN);
      folder.problem = undefined;
    } catch (error) {
      folder.problem = accessProblem(error, 'folder');
    }
    this.#draw();
  }

  #draw(): void {
    const rows: TreeRow[] = [];
    this.#add(this.root, 0, rows);
    this.rows.set(rows);
  }

  #add(uri: string, depth: number, rows: TreeRow[]): void {
    const { entries, problem } = this.#folders.get(uri) ?? {};
    const note = problem ?? (entries === undefined ? 'Loading …' : entries.length === 0 ? 'Empty' : undefined);
    if (note !== undefined) rows.push({ uri: `${uri}#`, name: '', isFolder: false, depth, isOpen: false, note });
    if (problem !== undefined) return;
    for (const entry of entries ?? []) {
      const isOpen = entry.isFolder && this.#folders.get(entry.uri)?.isOpen === true;
      rows.push({ ...entry, depth, isOpen });
      if (isOpen) this.#add(entry.uri, depth + 1, rows);
    }
  }
}

function newFolder(isOpen: boolean): Folder {
  return { entries: undefined, problem: undefined, isOpen, watch: undefined, timer: undefined };
}

function letGo(folder: Folder): void {
  clearTimeout(folder.timer);
  folder.timer = undefined;
  folder.watch?.close();
  folder.watch = undefined;
}
