/** A plugin or a watched directory in one session: its source, and its parts as they were last read. */
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { makeFolderSync } from '@atrium/core/util/folders.js';
import { type ContainerParts, type LoadedContainer, loadDirectory, loadPlugin, partsWithout } from '../formats/load.js';
import type { ExpansionContext } from '../formats/placeholders.js';
import type { ContainerSource } from '../formats/source.js';

export interface ContainerOptions {
  readonly expansion: ExpansionContext;
  /** Below it, each plugin gets a folder for its data. */
  readonly dataFolder?: string | undefined;
}

export class Container {
  readonly source: ContainerSource;
  readonly #options: ContainerOptions;
  #loaded: LoadedContainer | undefined;
  /** The ids of the parts that people switched off individually. */
  #off: ReadonlySet<string> = new Set();
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

  /** The name in its manifest, once that has been read. */
  get name(): string {
    return this.#name;
  }

  /** The prefix of its parts' names. Parts of directories have none. */
  get prefix(): string {
    return this.source.kind === 'plugin' ? `${this.#name}:` : '';
  }

  /** Undefined until it has been read. */
  get loaded(): LoadedContainer | undefined {
    return this.#loaded;
  }

  /** The parts that are switched on. All MCP servers are among them, because each has its own switch. */
  get parts(): ContainerParts | undefined {
    return this.#loaded && partsWithout(this.#loaded, this.#off);
  }

  /** Switches these parts off and all others on. */
  switchOff(ids: ReadonlySet<string>): void {
    this.#off = ids;
  }

  /** Most watched directories are empty. */
  get hasParts(): boolean {
    return (this.#loaded?.children.length ?? 0) > 0;
  }

  /** Whether it is a watched directory that does not exist, which clients do not see. */
  get isMissing(): boolean {
    return this.#isMissing;
  }

  /** Reads it again. All changes during a read together cause one more read. */
  load(): Promise<void> {
    if (this.#load) this.#isStale = true;
    this.#load ??= this.#read().finally(() => {
      this.#load = undefined;
    });
    return this.#load;
  }

  /** Creates its data folder. Called once it may run, so that plugins that never run leave no folder. */
  makeDataFolder(): void {
    const folder = this.#dataFolder;
    if (folder === undefined) return;
    try {
      makeFolderSync(folder, { mode: 0o700 });
    } catch {
      // A plugin that needs the folder reports the failure itself.
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
    const options = { ...this.#options.expansion, containerId: source.id };
    if (source.kind === 'directory') {
      this.#isMissing = !(await isFolder(source.folder));
      this.#loaded = await loadDirectory(await source.files(), {
        ...options,
        contents: source.contents,
        isOfCommands: source.isOfCommands === true,
      });
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

  /** Includes the place, because plugins from different places may have the same name. */
  get #dataFolder(): string | undefined {
    const { dataFolder } = this.#options;
    if (dataFolder === undefined || this.source.kind === 'directory') return undefined;
    return path.join(dataFolder, `${this.source.name}-${this.source.id.replace(/[^\w-]+/g, '-')}`);
  }
}

/** A folder that cannot be examined counts as existing; reading it then reports the reason. */
async function isFolder(folder: string): Promise<boolean> {
  return stat(folder).then(
    (found) => found.isDirectory(),
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT' && error.code !== 'ENOTDIR',
  );
}
