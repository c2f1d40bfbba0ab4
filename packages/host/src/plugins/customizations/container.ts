/** A plugin or a watched directory in one session: where it comes from, and what was last read there. */
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { makeFolderSync } from '../../core/util/folders.js';
import { type LoadedContainer, loadDirectory, loadPlugin } from './parse/load.js';
import type { Surroundings } from './parse/placeholders.js';
import type { ContainerSource } from './sources/source.js';

export interface ContainerOptions {
  readonly surroundings: Surroundings;
  /** Where plugins may keep data. */
  readonly dataFolder?: string | undefined;
}

export class Container {
  readonly source: ContainerSource;
  readonly #options: ContainerOptions;
  #loaded: LoadedContainer | undefined;
  #name: string;
  #load: Promise<void> | undefined;
  #isStale = false;
  #isMissing = false;

  constructor(source: ContainerSource, options: ContainerOptions) {
    this.source = source;
    this.#options = options;
    this.#name = source.name;
  }

  get id(): string {
    return this.source.id;
  }

  /** As its manifest has it, once that is read. */
  get name(): string {
    return this.#name;
  }

  /** What stands before the names of its parts: directories have none. */
  get prefix(): string {
    return this.source.kind === 'plugin' ? `${this.#name}:` : '';
  }

  /** Undefined until it has been read. */
  get loaded(): LoadedContainer | undefined {
    return this.#loaded;
  }

  /** Most watched directories are empty, and have nothing to say. */
  get hasParts(): boolean {
    return (this.#loaded?.children.length ?? 0) > 0;
  }

  /** A watched directory that is not there: nobody hears of it before it is. */
  get isMissing(): boolean {
    return this.#isMissing;
  }

  /** Reads it anew. What changes while it is being read makes for one more reading, however often it changes. */
  load(): Promise<void> {
    if (this.#load) this.#isStale = true;
    this.#load ??= this.#read().finally(() => {
      this.#load = undefined;
    });
    return this.#load;
  }

  /** Makes the folder for its data. Not earlier than it may run: a folder for each plugin ever seen helps nobody. */
  makeDataFolder(): void {
    const folder = this.#dataFolder;
    if (folder === undefined) return;
    try {
      makeFolderSync(folder, { mode: 0o700 });
    } catch {
      // A plugin that needs it will say so; those that do not run without.
    }
  }

  async #read(): Promise<void> {
    do {
      this.#isStale = false;
      await this.#readOnce();
    } while (this.#isStale);
  }

  async #readOnce(): Promise<void> {
    const { source } = this;
    const options = { ...this.#options.surroundings, containerId: source.id };
    if (source.kind === 'directory') {
      this.#isMissing = !(await isFolder(source.folder));
      this.#loaded = await loadDirectory(await source.files(), { ...options, contents: source.contents });
      return;
    }
    const folders = {
      ...(source.folder !== undefined && { pluginRoot: source.folder }),
      ...(this.#dataFolder !== undefined && { pluginData: this.#dataFolder }),
    };
    const loaded = await loadPlugin(await source.files(), { ...options, ...folders });
    this.#loaded = loaded;
    if (loaded.dialect !== undefined) this.#name = loaded.name;
  }

  /** Plugins of one name from different places do not share it. */
  get #dataFolder(): string | undefined {
    const { dataFolder } = this.#options;
    if (dataFolder === undefined || this.source.kind === 'directory') return undefined;
    return path.join(dataFolder, `${this.source.name}-${this.source.id.replace(/[^\w-]+/g, '-')}`);
  }
}

/** One that cannot be looked at is there: reading it says what is wrong. */
async function isFolder(folder: string): Promise<boolean> {
  return stat(folder).then(
    (found) => found.isDirectory(),
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT' && error.code !== 'ENOTDIR',
  );
}
