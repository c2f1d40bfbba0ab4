/**
 * Watches the folders of automations that wait for changes of files. Changes are collected until the files are quiet.
 * Changes by an automation's own run do not start the next run.
 */
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '@atrium/core/util/clock.js';
import type { Logger } from '@atrium/core/util/logger.js';
import type { AutomationEntry } from '@atrium/protocol/ahp-1';
import { FolderBudget, type PathChange, TreeWatch } from '../workspace/files/tree-watch.js';
import { changeFilter } from '../workspace/files/watches.js';
import { FILES_EVENT, folderPath, type HostEvent } from './event-types.js';
import {
  FILES_COUNTED_MAX,
  FILES_NAMED_MAX,
  FILES_NAMED_MAX_CHARACTERS,
  FILES_SETTLE_MAX_MS,
  FILES_SETTLE_MS,
  WATCH_RETRY_MS,
} from './limits.js';

/** Programs change these folders all the time. */
const NEVER = { items: ['**/node_modules', '**/.git'] };

export interface FileTriggersOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether changes count as those of the automation's own run. */
  isOwn(automation: string): boolean;
  changed(automation: string, triggerId: string, event: HostEvent): void;
}

interface WatchedFolder {
  readonly automation: string;
  readonly triggerId: string;
  readonly folder: string;
  readonly patterns: string[];
}

export class FileTriggers {
  readonly #options: FileTriggersOptions;
  readonly #budget = new FolderBudget();
  readonly #watches = new Map<string, FolderChanges>();

  constructor(options: FileTriggersOptions) {
    this.#options = options;
  }

  /** Watches what these automations need, and nothing else. */
  sync(entries: readonly AutomationEntry[]): void {
    const wanted = new Map(entries.flatMap(watchedFolders).map((watch) => [JSON.stringify(watch), watch]));
    for (const [key, watch] of this.#watches) {
      if (wanted.has(key)) continue;
      watch.close();
      this.#watches.delete(key);
    }
    for (const [key, watch] of wanted) {
      if (!this.#watches.has(key)) this.#watches.set(key, new FolderChanges(watch, this.#options, this.#budget));
    }
  }

  /** Resolves when every watchable folder is watched. */
  async watching(): Promise<void> {
    await Promise.all([...this.#watches.values()].map(({ started }) => started));
  }

  close(): void {
    this.sync([]);
  }
}

function watchedFolders({ resource, definition }: AutomationEntry): WatchedFolder[] {
  const folders = (definition.session.workingDirectories ?? []).flatMap((uri) => folderPath(uri) ?? []);
  if (!definition.enabled) return [];
  return definition.triggers.flatMap((trigger) => {
    if (trigger.kind !== 'event' || trigger.type !== FILES_EVENT) return [];
    const patterns = (trigger.config?.patterns ?? []) as string[];
    return folders.map((folder) => ({ automation: resource, triggerId: trigger.id, folder, patterns }));
  });
}

/** One folder, for one trigger. */
class FolderChanges {
  readonly #watched: WatchedFolder;
  readonly #options: FileTriggersOptions;
  readonly #budget: FolderBudget;
  readonly #changed = new Map<string, string>();
  #tree: TreeWatch | undefined;
  #firstAt = 0;
  #cancelSettling = () => {};
  #cancelRetry = () => {};
  #isClosed = false;
  started: Promise<void>;

  constructor(wanted: WatchedFolder, options: FileTriggersOptions, budget: FolderBudget) {
    this.#watched = wanted;
    this.#options = options;
    this.#budget = budget;
    this.started = this.#start();
  }

  async #start(): Promise<void> {
    const { clock } = this.#options;
    const { folder, patterns } = this.#watched;
    try {
      const root = await realpath(folder);
      if (this.#isClosed) return;
      this.#tree = new TreeWatch({
        ...{ clock, root, isFolder: true, recursive: true, budget: this.#budget },
        filter: changeFilter(NEVER, { items: patterns }),
        changed: (changes) => this.#collect(root, changes),
        failed: (error) => this.#failed(error),
      });
      await this.#tree.start();
    } catch (error) {
      this.#failed(error);
    }
  }

  #failed(error: unknown): void {
    if (this.#isClosed) return;
    const { clock, logger } = this.#options;
    const { automation, folder } = this.#watched;
    logger.log('warn', 'a folder of an automation cannot be watched; tried again later', {
      ...{ automation, folder, error: String(error) },
    });
    this.#tree?.close();
    this.#cancelRetry();
    this.#cancelRetry = clock.after(WATCH_RETRY_MS, () => {
      this.started = this.#start();
    });
  }

  #collect(root: string, changes: readonly PathChange[]): void {
    const { clock, isOwn } = this.#options;
    if (this.#isClosed || isOwn(this.#watched.automation)) return;
    const now = clock.now();
    if (this.#changed.size === 0) this.#firstAt = now;
    for (const { path: file, type } of changes) this.#note(path.relative(root, file) || '.', type);
    this.#cancelSettling();
    const wait = Math.min(FILES_SETTLE_MS, this.#firstAt + FILES_SETTLE_MAX_MS - now);
    this.#cancelSettling = clock.after(Math.max(0, wait), () => this.#settled());
  }

  #note(file: string, change: string): void {
    if (this.#changed.size < FILES_COUNTED_MAX || this.#changed.has(file)) this.#changed.set(file, change);
  }

  #settled(): void {
    const { automation, triggerId, folder } = this.#watched;
    const all = [...this.#changed].map(([file, change]) => ({ file, change }));
    this.#changed.clear();
    let room = FILES_NAMED_MAX_CHARACTERS;
    const tooLong = all.findIndex(({ file }) => {
      room -= file.length;
      return room < 0;
    });
    const files = all.slice(0, Math.min(FILES_NAMED_MAX, tooLong < 0 ? all.length : tooLong));
    const more = all.length - files.length;
    const facts = { folder, files, ...(more > 0 && { more }) };
    this.#options.changed(automation, triggerId, { type: FILES_EVENT, event: 'changed', facts });
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelSettling();
    this.#cancelRetry();
    this.#tree?.close();
  }
}
