/**
 * The customizations of one session as last read: plugins, watched directories, and MCP servers outside of them. Reads
 * each container again when its folder changes.
 */
import type { Clock } from '@atrium/core/util/clock.js';
import type { ContainerSource, ServerSource } from '../formats/source.js';
import { Container, type ContainerOptions } from './container.js';
import { FolderWatches, foldersBelow } from './folder-watches.js';

export interface InventoryOptions extends ContainerOptions {
  readonly clock: Clock;
  /** Receives defects of the host. Problems of a container are part of the container. */
  failed(error: unknown): void;
}

/** The key of the watch over the places where containers may appear and disappear. */
const PLACES = '';

export class Inventory {
  readonly #options: InventoryOptions;
  readonly #containers = new Map<string, Container>();
  readonly #servers = new Map<string, ServerSource>();
  readonly #watches: FolderWatches;
  #wasRead: (container: Container) => void = () => {};

  constructor(options: InventoryOptions) {
    this.#options = options;
    this.#watches = new FolderWatches(options.clock);
  }

  /** Calls back whenever a container has been read, for the first time or again. */
  onRead(wasRead: (container: Container) => void): void {
    this.#wasRead = wasRead;
  }

  get containers(): readonly Container[] {
    return [...this.#containers.values()];
  }

  get servers(): readonly ServerSource[] {
    return [...this.#servers.values()];
  }

  get ids(): readonly string[] {
    return [...this.#containers.keys(), ...this.#servers.keys()];
  }

  container(id: string): Container | undefined {
    return this.#containers.get(id);
  }

  server(id: string): ServerSource | undefined {
    return this.#servers.get(id);
  }

  setServer(source: ServerSource): void {
    this.#servers.set(source.id, source);
  }

  /** Replaces the container with the same id. The new one is empty until `read`. */
  add(source: ContainerSource): Container {
    const container = new Container(source, this.#options);
    this.#containers.set(source.id, container);
    return container;
  }

  remove(id: string): void {
    this.#containers.delete(id);
    this.#servers.delete(id);
    this.#watches.unwatch(id);
  }

  async read(container: Container): Promise<void> {
    await this.#read(container).catch((error) => this.#options.failed(error));
  }

  /** Watches before reading, so that no change in between is missed. */
  async #read(container: Container): Promise<void> {
    const { id, source } = container;
    const { folder, scope } = source;
    // A client reports by itself when its plugin has changed.
    if (folder !== undefined && scope !== 'client') {
      const again = () => void this.read(container);
      await this.#watches.watch(id, await foldersBelow(folder), again);
    }
    await container.load();
    if (this.#containers.get(id) === container) this.#wasRead(container);
    else if (!this.#containers.has(id)) this.#watches.unwatch(id);
  }

  /** Watches places where containers may appear and disappear. */
  watch(folders: readonly string[], changed: () => void): Promise<void> {
    return this.#watches.watch(PLACES, folders, changed);
  }

  close(): void {
    this.#watches.close();
  }
}
