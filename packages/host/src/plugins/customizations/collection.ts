/** What customizes one session: containers, read and watched, and MCP servers that stand for themselves. */
import type { Clock } from '../../core/util/clock.js';
import { Container, type ContainerOptions } from './container.js';
import type { ContainerSource, ServerSource } from './sources/source.js';
import { foldersBelow, Watches } from './watches.js';

export interface CollectionParts extends ContainerOptions {
  readonly clock: Clock;
  /** A container has been read, for the first time or again. */
  read(container: Container): void;
  /** A mistake of ours: what a container has to say against being read is part of the container. */
  failed(error: unknown): void;
}

export class Collection {
  readonly #parts: CollectionParts;
  readonly #containers = new Map<string, Container>();
  readonly #servers = new Map<string, ServerSource>();
  readonly #watches: Watches;

  constructor(parts: CollectionParts) {
    this.#parts = parts;
    this.#watches = new Watches(parts.clock);
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

  /** Takes the place of the one with its id. It is read by `read`. */
  add(source: ContainerSource): Container {
    const container = new Container(source, this.#parts);
    this.#containers.set(source.id, container);
    return container;
  }

  remove(id: string): void {
    this.#containers.delete(id);
    this.#servers.delete(id);
    this.#watches.unwatch(id);
  }

  async read(container: Container): Promise<void> {
    await this.#read(container).catch((error) => this.#parts.failed(error));
  }

  /** Watched first, so that no change is missed between the two. */
  async #read(container: Container): Promise<void> {
    const { id, source } = container;
    const { folder, scope } = source;
    // A client says itself when its plugin has changed.
    if (folder !== undefined && scope !== 'client') {
      const again = () => void this.read(container);
      await this.#watches.watch(id, await foldersBelow(folder), again);
    }
    await container.load();
    if (this.#containers.get(id) === container) this.#parts.read(container);
    else if (!this.#containers.has(id)) this.#watches.unwatch(id);
  }

  /** Watches places where containers may come and go. */
  watch(folders: readonly string[], changed: () => void): Promise<void> {
    return this.#watches.watch('', folders, changed);
  }

  close(): void {
    this.#watches.close();
  }
}
