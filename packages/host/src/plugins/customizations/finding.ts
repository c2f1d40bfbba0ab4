/** Finds what customizes a session on this machine, and looks again when something there comes or goes. */
import type { Session } from '../../core/sessions/session.js';
import { mapSome } from '../../core/util/map-some.js';
import type { Collection } from './collection.js';
import type { Container } from './container.js';
import type { Publisher } from './entries.js';
import { LOADS_AT_ONCE } from './limits.js';
import type { CustomizationsParts } from './ports.js';
import { findSources, placesToWatch, type SourcePlaces } from './sources/find-sources.js';
import { type AnySource, HOST_ID_PREFIX } from './sources/source.js';

export interface FindingParts extends Pick<CustomizationsParts, 'options' | 'logger' | 'isTrusted'> {
  readonly session: Session;
  readonly folder: string | undefined;
  readonly collection: Collection;
  readonly publisher: Publisher;
  /** A server that stands for itself is known as soon as it is found. */
  serverFound(id: string): void;
  /** Everything has been found and read. */
  found(): void;
  remove(id: string): void;
  failed(error: unknown): void;
}

export class Finding {
  readonly #parts: FindingParts;
  #last: Promise<void> = Promise.resolve();
  /** The look that has yet to begin: it sees all that has changed until then. */
  #next: Promise<void> | undefined;

  constructor(parts: FindingParts) {
    this.#parts = parts;
  }

  async begin(): Promise<void> {
    await this.#parts.collection.watch(placesToWatch(await this.#places()), () => void this.again());
    await this.again();
  }

  /**
   * Looks at all places. What was there before stays as it is. One look follows the other: an earlier one that takes
   * longer must not take away what a later one has found.
   */
  again(): Promise<void> {
    this.#next ??= this.#last.then(() => {
      this.#next = undefined;
      return this.#parts.publisher.during(() => this.#find()).catch((error) => this.#parts.failed(error));
    });
    this.#last = this.#next;
    return this.#next;
  }

  async #find(): Promise<void> {
    const { session, collection, publisher } = this.#parts;
    const sources = await findSources(await this.#places());
    if (session.isClosed) return;
    this.#removeOthers(sources);
    const added = sources.flatMap((source) => this.#add(source));
    await mapSome(added, LOADS_AT_ONCE, (container) => collection.read(container));
    for (const { id } of sources) publisher.soon(id);
    this.#parts.found();
  }

  async #places(): Promise<SourcePlaces> {
    const { session, folder, options, logger } = this.#parts;
    const isTrusted = folder !== undefined && (await this.#parts.isTrusted(folder));
    const surroundings = { env: process.env, platform: process.platform };
    const declared = session.parts.backend?.info.customizations ?? [];
    return { ...options, folder, isTrusted, declared, surroundings, logger };
  }

  /** Servers are known at once; containers have to be read. */
  #add(source: AnySource): readonly Container[] {
    const { collection, publisher, serverFound } = this.#parts;
    if (source.kind === 'mcpServer') {
      collection.setServer(source);
      serverFound(source.id);
      publisher.soon(source.id);
      return [];
    }
    return collection.container(source.id) ? [] : [collection.add(source)];
  }

  #removeOthers(sources: readonly AnySource[]): void {
    const { session, remove } = this.#parts;
    const kept = new Set(sources.map(({ id }) => id));
    const shown = (session.state.customizations ?? []).filter(
      ({ id, clientId }) => clientId === undefined && id.startsWith(HOST_ID_PREFIX),
    );
    for (const { id } of shown) if (!kept.has(id)) remove(id);
  }
}
